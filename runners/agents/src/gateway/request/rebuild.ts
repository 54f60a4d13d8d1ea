// Rebuilds a request from its declared fields, so that only these leave the gateway. Pure.
import type { Json } from "@mlrb/kit/stage";
import type { Refusal } from "../provider-error.ts";
import { addressKind, remoteReference } from "./remote-reference.ts";
import {
  type Bar,
  type Fields,
  type ObjectShape,
  type Shape,
  storedFileBar,
  type Variants,
} from "./shape.ts";
import { isUnset, takes, wordsOf } from "./shape-values.ts";
import { isSoundOrFilm } from "./sound-or-film.ts";

type Body = Record<string, Json>;

/** Of unknown fields, and of fields that reach a network. A hostile request has any number of both. */
const namesMax = 100;

/**
 * `network`: whether the attempt may reach a network in other ways. `dropped`: where fields were that nothing
 * declares, e.g. `messages[].name`. `reaches`: where the request lets the provider search, fetch or run remote tools;
 * empty without a network.
 */
export function rebuild(
  shape: ObjectShape,
  value: Json,
  { network }: { network: boolean },
): { body: Body; dropped: string[]; reaches: string[] } | { refused: Refusal } {
  const rebuilding = new Rebuilding(network);
  const body = rebuilding.value(shape, value, "") as Body;
  const { refused, dropped, reaches } = rebuilding;
  return refused ? { refused } : { body, dropped: [...dropped], reaches: [...reaches] };
}

/** One walk through a request. After the first refusal its results mean nothing. */
class Rebuilding {
  readonly dropped = new Set<string>();
  readonly reaches = new Set<string>();
  refused: Refusal | undefined;
  readonly #network: boolean;

  constructor(network: boolean) {
    this.#network = network;
  }

  value(shape: Shape, value: Json, path: string): Json {
    // without a network the value of a reaching field does not matter
    if (shape.kind !== "reaching" && !takes(shape, value))
      return this.#refuse(400, `${quoted(path)} must be ${wordsOf(shape)}`);
    const text = typeof value === "string" ? value : "";
    switch (shape.kind) {
      case "opaque":
      case "text":
      case "number":
      case "flag":
        return value;
      case "word":
        return shape.words.includes(text) ? text : this.#bar(shape.bar, path, text);
      case "data-url":
        if (text.startsWith("data:") || (shape.bare && bareBase64.test(text)))
          return isInlineSoundOrFilm(text) ? this.#bar(soundOrFilm, path, null) : text;
        return this.#address(shape.name, path, text);
      case "media-type":
      case "base64":
      case "file-name":
        return isSoundOrFilm[shape.kind](text) ? this.#bar(soundOrFilm, path, null) : text;
      case "address":
        return this.#address(shape.name, path, text);
      case "schema": {
        const remote = remoteReference(value);
        if (remote === undefined) return value;
        return this.#address(`the reference ${shown(remote)} of a JSON Schema`, path, remote) && value;
      }
      case "list":
        return (value as Json[]).map((one) => this.value(shape.of, one, `${path}[]`));
      case "table":
        return Object.fromEntries(
          Object.entries(value as Body).map(([key, one]) => [key, this.value(shape.of, one, `${path}.*`)]),
        );
      case "object":
        return this.#object(shape, value as Body, path);
      case "variants":
        return this.#variant(shape, value as Body, path);
      case "either":
        return this.value(shape.of.find((one) => takes(one, value))!, value, path);
      case "barred":
        return this.#bar(shape.bar, path, value);
      case "reaching":
        return this.#reaching(shape.name, path) ? this.value(shape.of, value, path) : null;
    }
  }

  #object({ fields, proto, closed, open, defaults = {} }: ObjectShape, value: Body, path: string): Json {
    const rebuilt: Body = {};
    const seen = new Set<string>();
    for (const [key, one] of Object.entries(value)) {
      const name = proto ? camelCase(key) : key;
      const shape = [key, name].filter((one) => Object.hasOwn(fields, one)).map((one) => fields[one])[0];
      const place = path === "" ? key : `${path}.${key}`;
      if (seen.has(name)) this.#refuse(400, `${quoted(place)} is there in two spellings; keep one`);
      seen.add(name);
      if (shape === undefined && closed && one !== null) this.#bar(unknownIn(fields), place, one);
      else if (shape === undefined && open) rebuilt[key] = one;
      else if (shape === undefined) this.#drop(place);
      else if (!isUnset(shape, one)) rebuilt[key] = one === null ? null : this.value(shape, one, place);
    }
    for (const [name, one] of Object.entries(defaults)) rebuilt[name] ??= one;
    return rebuilt;
  }

  #variant({ noun, of, absent }: Variants, value: Body, path: string): Json {
    const type = value.type ?? absent;
    const found =
      typeof type === "string" &&
      of.find(([name]) => (typeof name === "string" ? name === type : name.test(type)));
    if (found) return this.value(found[1], value, path);
    return this.#refuse(
      403,
      `${noun} of type ${shown(type ?? null)} in ${quoted(path)} is not known to stay with the program; ` +
        `known are ${of.map(([name]) => (typeof name === "string" ? name : name.source)).join(", ")}`,
    );
  }

  #drop(place: string): void {
    if (this.dropped.size < namesMax) this.dropped.add(place.slice(0, 200));
  }

  #address(name: string, path: string, value: string): string | null {
    if (addressKind(value) === "stored" && this.#network) return this.#bar(storedFileBar, path, value);
    return this.#reaching(name, path) ? value : null;
  }

  /** Whether the attempt has a network; refuses the request otherwise. */
  #reaching(name: string, path: string): boolean {
    if (this.#network) {
      if (this.reaches.size < namesMax) this.reaches.add(path.slice(0, 200));
      return true;
    }
    this.#refuse(
      403,
      `${name} (${quoted(path)}) would reach a network, and this attempt has none; send the content itself, ` +
        "or use tools that the program runs itself",
    );
    return false;
  }

  #bar({ changes, why, instead }: Bar, path: string, value: Json): null {
    const means = { price: "the price", storage: "what the provider stores", reach: "what the call reaches" };
    const said = typeof value === "object" ? "" : ` ${shown(value)}`;
    return this.#refuse(
      403,
      `${quoted(path)}${said} is refused, because it can change ${means[changes]}: ${why}; ${instead}`,
    );
  }

  #refuse(status: number, detail: string): null {
    this.refused ??= { status, detail };
    return null;
  }
}

const bareBase64 = /^[\w+/=\s-]*$/u;

const soundOrFilm: Bar = {
  changes: "price",
  why: "sound and film have prices of their own",
  instead: "send text or pictures",
};

function unknownIn(fields: Fields): Bar {
  return {
    changes: "reach",
    why: "the gateway does not know it here, and without it the provider may do more",
    instead: `leave it out; known are ${Object.keys(fields).join(", ")}`,
  };
}

/** `value`: a `data:` URL, or base64 alone. */
function isInlineSoundOrFilm(value: string): boolean {
  const [, type = "", content = value] = /^data:([^,]{0,1000}),(.*)$/su.exec(value) ?? [];
  return isSoundOrFilm["media-type"](type) || isSoundOrFilm.base64(content);
}

function camelCase(key: string): string {
  return key.replace(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase());
}

function quoted(path: string): string {
  return `\`${path === "" ? "the body" : path.slice(0, 200)}\``;
}

function shown(value: Json): string {
  return JSON.stringify(typeof value === "string" ? value.slice(0, 60) : value).slice(0, 80);
}
