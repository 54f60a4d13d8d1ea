// Rebuilds a request from its declared fields, so that only these leave the gateway. Pure.
import { unreachable } from "@mlrb/core/ports/outcome";
import type { Json } from "@mlrb/kit/stage";
import type { Refusal } from "../provider-error.ts";
import { isObject, numberOf } from "./request-json.ts";
import type { Bar, Fields, ObjectShape, Shape, Variants } from "./shape.ts";

export type Rebuilt = {
  body: Record<string, Json>;
  /** Where fields were that nothing declares, e.g. `messages[].name`; each once. */
  dropped: string[];
  /** Where the request lets the provider search, fetch or run remote tools; each once. Empty without a network. */
  reaches: string[];
};

/** Of unknown fields, and of fields that reach a network. A hostile request has any number of both. */
const namesMax = 100;

/** `network`: whether the attempt may reach a network in other ways. */
export function rebuild(
  shape: ObjectShape,
  value: Json,
  { network }: { network: boolean },
): Rebuilt | { refused: Refusal } {
  const rebuilding = new Rebuilding(network);
  const body = rebuilding.value(shape, value, "");
  if (rebuilding.refused) return { refused: rebuilding.refused };
  return {
    body: body as Record<string, Json>,
    dropped: [...rebuilding.dropped],
    reaches: [...rebuilding.reaches],
  };
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
    switch (shape.kind) {
      case "opaque":
        return value;
      case "text":
        return typeof value === "string" ? value : this.#mistyped(path, "a text");
      case "number":
        return numberOf(value) !== undefined ? value : this.#mistyped(path, "a number");
      case "flag":
        return typeof value === "boolean" ? value : this.#mistyped(path, "true or false");
      case "word":
        if (typeof value === "string" && shape.words.includes(value)) return value;
        return typeof value === "string" ? this.#bar(shape.bar, path, value) : this.#mistyped(path, "a text");
      case "data-url":
        if (typeof value !== "string") return this.#mistyped(path, "a text");
        if (value.startsWith("data:"))
          return isSoundOrFilm(value.slice("data:".length, 200)) ? this.#bar(soundOrFilm, path, null) : value;
        if (shape.bare && base64.test(value)) return value;
        return this.#reaching(shape.name, path) ? value : null;
      case "media-type":
        if (typeof value !== "string") return this.#mistyped(path, "a text");
        return isSoundOrFilm(value) ? this.#bar(soundOrFilm, path, value) : value;
      case "list":
        if (!Array.isArray(value)) return this.#mistyped(path, "a list");
        return value.map((one) => this.value(shape.of, one, `${path}[]`));
      case "table":
        if (!isObject(value)) return this.#mistyped(path, "an object");
        return Object.fromEntries(
          Object.entries(value).map(([key, one]) => [key, this.value(shape.of, one, `${path}.*`)]),
        );
      case "object":
        return isObject(value) ? this.#object(shape, value, path) : this.#mistyped(path, "an object");
      case "variants":
        return isObject(value) ? this.#variant(shape, value, path) : this.#mistyped(path, "an object");
      case "either": {
        const fitting = shape.of.find((one) => takes(one, value));
        return fitting ? this.value(fitting, value, path) : this.#mistyped(path, wordsOf(shape.of));
      }
      case "barred":
        return this.#bar(shape.bar, path, value);
      case "reaching":
        return this.#reaching(shape.name, path) ? this.value(shape.of, value, path) : null;
      default:
        return unreachable(shape);
    }
  }

  #object(
    { fields, proto, closed, defaults = {} }: ObjectShape,
    value: Record<string, Json>,
    path: string,
  ): Json {
    const rebuilt: Record<string, Json> = {};
    const seen = new Set<string>();
    for (const [key, one] of Object.entries(value)) {
      const name = proto ? camelCase(key) : key;
      const shape = [key, name].filter((one) => Object.hasOwn(fields, one)).map((one) => fields[one])[0];
      const place = path === "" ? key : `${path}.${key}`;
      if (seen.has(name)) this.#refuse(400, `${quoted(place)} is there in two spellings; keep one`);
      seen.add(name);
      if (shape === undefined && closed && one !== null) this.#bar(unknownIn(fields), place, one);
      else if (shape === undefined) this.#drop(place);
      else if (!isUnset(shape, one)) rebuilt[key] = one === null ? null : this.value(shape, one, place);
    }
    for (const [name, one] of Object.entries(defaults)) rebuilt[name] ??= one;
    return rebuilt;
  }

  #variant({ noun, of, absent }: Variants, value: Record<string, Json>, path: string): Json {
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

  #mistyped(path: string, wanted: string): null {
    return this.#refuse(400, `${quoted(path)} must be ${wanted}`);
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

const base64 = /^[\w+/=\s-]*$/u;

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

/** `type`: a media type, and what follows it in a `data:` URL. */
function isSoundOrFilm(type: string): boolean {
  return /^\s*(audio\b|video\b|application\/(ogg|mp4|x-matroska|x-mpegurl|vnd\.apple\.mpegurl)\b)/iu.test(
    type,
  );
}

/** Whether a field that may be refused has a value that means the same as leaving it out. */
function isUnset(shape: Shape, value: Json): boolean {
  if (shape.kind === "reaching")
    return value === null || value === false || (Array.isArray(value) && value.length === 0);
  if (shape.kind !== "barred") return false;
  return value === null || isHarmless(shape.bar, value);
}

/** A harmless value, in any case, or a list of one. */
function isHarmless({ harmless = [] }: Bar, value: Json): boolean {
  const only = Array.isArray(value) && value.length === 1 ? value[0]! : value;
  return (harmless as readonly Json[]).includes(typeof only === "string" ? only.toLowerCase() : only);
}

/** Whether the JSON type of `value` is that of the shape. */
function takes(shape: Shape, value: Json): boolean {
  switch (shape.kind) {
    case "text":
    case "word":
    case "data-url":
    case "media-type":
      return typeof value === "string";
    case "number":
      return numberOf(value) !== undefined;
    case "flag":
      return typeof value === "boolean";
    case "list":
      return Array.isArray(value);
    case "reaching":
      return takes(shape.of, value);
    case "either":
      return shape.of.some((one) => takes(one, value));
    case "object":
    case "table":
    case "variants":
      return isObject(value);
    case "opaque":
    case "barred":
      return true;
    default:
      return unreachable(shape);
  }
}

function wordsOf(shapes: readonly Shape[]): string {
  const words = shapes.map(({ kind }) => {
    if (kind === "text" || kind === "word") return "a text";
    if (kind === "list") return "a list";
    return kind === "number" || kind === "flag" ? `a ${kind}` : "an object";
  });
  return [...new Set(words)].join(" or ");
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
