// The vocabulary in which each protocol declares the fields of its requests. A field without a declaration is
// dropped; a field that could change the price, what the provider stores, or what it reaches is refused.

import type { Json } from "@mlrb/kit/stage";

export type Shape =
  /** Passed on unchanged: what a program or a model wrote itself, such as a tool's arguments or a JSON Schema. */
  | { kind: "opaque" }
  | { kind: "text" | "number" | "flag" }
  /** One of these words. `bar` says what another one would change. */
  | { kind: "word"; words: readonly string[]; bar: Bar }
  /** A `data:` URL; or an address that the provider would fetch. `bare`: or its base64 alone. */
  | { kind: "data-url"; name: string; bare?: true }
  /** The type of inline data, its base64, and the name of its file. Sound and film have prices of their own. */
  | { kind: "media-type" | "base64" | "file-name" }
  /** Content that the provider would fetch; in attempts with a network only, and never what an account stores. */
  | { kind: "address"; name: string }
  /** A JSON Schema; a reference to another document is an address. */
  | { kind: "schema" }
  | { kind: "list"; of: Shape }
  /** An object with keys of the program's own. */
  | { kind: "table"; of: Shape }
  | ObjectShape
  | Variants
  /** By the type of the JSON value: the first shape that takes it. */
  | { kind: "either"; of: readonly Shape[] }
  | { kind: "barred"; bar: Bar }
  /** Barred, except in attempts that have a network. `name` is for the refusal. */
  | { kind: "reaching"; name: string; of: Shape };

export type ObjectShape = {
  kind: "object";
  fields: Fields;
  /** Protocol buffers: `camelCase` and `snake_case` name the same field. */
  proto?: true;
  /** An unknown field is refused: without it, the provider could run or reach more. */
  closed?: true;
  /** An unknown field is passed on unchanged. */
  open?: true;
  /** Sent in so many words where the program leaves them out. */
  defaults?: Readonly<Record<string, Json>>;
};

export type Fields = Readonly<Record<string, Shape>>;

export type Variants = {
  kind: "variants";
  /** What the object is, for the refusal, e.g. "a tool". */
  noun: string;
  /** The `type` of an object without one. */
  absent?: string;
  /** By `type`: its whole text. */
  of: readonly (readonly [type: string | RegExp, shape: Shape])[];
};

export type Bar = {
  changes: "price" | "storage" | "reach";
  /** The cause: what the field does at the provider. */
  why: string;
  /** The way out. */
  instead: string;
  /** Values that mean the same as leaving the field out, words in lower case. null always does. */
  harmless?: readonly (string | boolean)[];
};

export const opaque: Shape = { kind: "opaque" };
export const text: Shape = { kind: "text" };
export const number: Shape = { kind: "number" };
export const flag: Shape = { kind: "flag" };
export const mediaType: Shape = { kind: "media-type" };
export const base64: Shape = { kind: "base64" };
export const fileName: Shape = { kind: "file-name" };
export const schema: Shape = { kind: "schema" };

/** Fields of one shape. `names`: a blank between two. */
export const each = (shape: Shape, names: string): Fields =>
  Object.fromEntries(names.split(" ").map((name) => [name, shape]));
export const list = (of: Shape): Shape => ({ kind: "list", of });
export const table = (of: Shape): Shape => ({ kind: "table", of });
export const object = (fields: Fields): ObjectShape => ({ kind: "object", fields });
export const proto = (fields: Fields): ObjectShape => ({ kind: "object", fields, proto: true });
export const closed = (of: ObjectShape): ObjectShape => ({ ...of, closed: true });
export const opened = (of: ObjectShape): ObjectShape => ({ ...of, open: true });
export const either = (...of: Shape[]): Shape => ({ kind: "either", of });
export const word = (words: readonly string[], bar: Bar): Shape => ({ kind: "word", words, bar });
export const dataUrl = (name: string): Shape => ({ kind: "data-url", name });
export const inlineData = (name: string): Shape => ({ kind: "data-url", name, bare: true });
export const address = (name: string): Shape => ({ kind: "address", name });
export const barred = (changes: Bar["changes"], bar: Omit<Bar, "changes">): Shape => ({
  kind: "barred",
  bar: { changes, ...bar },
});
export const reaching = (name: string, of: Shape): Shape => ({ kind: "reaching", name, of });
export const variants = (noun: string, of: Variants["of"], absent?: string): Variants => ({
  kind: "variants",
  noun,
  of,
  ...(absent !== undefined && { absent }),
});

/** A file that was uploaded to the provider, or that its tools left there. */
export const storedFileBar: Bar = {
  changes: "storage",
  why: "it names a file that the provider stores",
  instead: "send the content itself",
};
export const storedFile: Shape = { kind: "barred", bar: storedFileBar };

/** A service that the operator's account is connected to, e.g. a mailbox. */
export const connector = barred("storage", {
  why: "it names a service of the operator's account",
  instead: "name the server's own address",
});

/** A tool that runs at the provider, or its call: it stores files there and has its own price. */
export const ranAtProvider = barred("storage", {
  why: "it runs at the provider, with storage and a price of its own",
  instead: "use tools that the program runs itself",
});

const leaveOut = "leave it out";
const conversationAtProvider = barred("storage", {
  why: "it continues a conversation that the provider stores",
  instead: "send the whole conversation",
});
const contentAtProvider = barred("storage", {
  why: "it names content that the provider stores",
  instead: "send the content itself",
});
const tier = barred("price", {
  why: "tiers have prices of their own, and the gateway asks for the standard one",
  instead: leaveOut,
  harmless: [
    ...["auto", "default", "standard", "standard_only", "unspecified"],
    ...["service_tier_standard", "service_tier_unspecified"],
  ],
});
const payer = barred("price", { why: "it changes who pays", instead: leaveOut });
const otherModel = barred("price", { why: "another model or provider could answer", instead: leaveOut });
const soundInstead = { why: "sound has a price of its own", instead: "send and ask for text" };

/** Refused at the top of every protocol's request, whichever protocol a field belongs to. */
export const barredEverywhere: Fields = {
  ...each(conversationAtProvider, "previous_response_id conversation thread"),
  ...each(contentAtProvider, "prompt cachedContent cached_content"),
  store: barred("storage", {
    why: "the provider would store the answer",
    instead: "send false, or leave it out",
    harmless: [false],
  }),
  background: barred("storage", {
    why: "the provider would store the answer, to be fetched later",
    instead: "wait for the answer, or stream it",
    harmless: [false],
  }),
  prompt_cache_retention: barred("storage", {
    why: "the provider would store the prompt for longer",
    instead: leaveOut,
    harmless: ["in_memory", "in-memory"],
  }),
  container: ranAtProvider,
  ...each(tier, "service_tier serviceTier"),
  speed: barred("price", {
    ...{ why: "a faster answer has a price of its own", instead: leaveOut, harmless: ["standard"] },
  }),
  inference_geo: barred("price", {
    ...{ why: "regions have prices of their own", instead: leaveOut, harmless: ["global"] },
  }),
  ...each(payer, "billing_policy workspace_id user_profile_id"),
  ...each(otherModel, "models fallbacks fallback_credit_token provider route"),
  plugins: barred("reach", { why: "it lets the provider search and read files", instead: leaveOut }),
  audio: barred("price", soundInstead),
  modalities: barred("price", { ...soundInstead, harmless: ["text"] }),
};
