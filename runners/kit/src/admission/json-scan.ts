// Checks untrusted JSON in one pass over its bytes, before anything is built from it. It checks the grammar, equal
// keys and the limits, and counts. It holds only the keys of open objects, so a vocabulary of 96 MiB needs no
// parsed copy. NaN, Infinity and -Infinity are accepted, since Python writes them into real settings.

import { isUtf8 } from "node:buffer";
import { clip } from "./clip.ts";
import { overLimit, type ReadingLimit, readingLimits } from "./reading-limits.ts";

export type JsonLimits = {
  values: ReadingLimit;
  depth?: ReadingLimit;
  /** Of one text. */
  text?: ReadingLimit;
  /** Containers to count, by path, e.g. `model.vocab`, each with a limit of its elements. */
  counted?: Record<string, ReadingLimit>;
};

/**
 * `counts` holds the sizes of the counted containers that exist, `nonNumbers` the byte ranges of NaN and
 * infinities.
 */
export type JsonScan =
  | {
      kind: "ok";
      root: "object" | "other";
      counts: Record<string, number>;
      nonNumbers: { from: number; to: number }[];
    }
  | { kind: "malformed"; reason: string };

/** Never throws for the contents of `bytes`. */
export function scanJson(bytes: Uint8Array, limits: JsonLimits): JsonScan {
  if (!isUtf8(bytes)) return { kind: "malformed", reason: "not UTF-8 text" };
  try {
    return new JsonScanner(bytes, limits).scan();
  } catch (error) {
    if (error instanceof Malformed) return { kind: "malformed", reason: error.message };
    throw error;
  }
}

class Malformed extends Error {}

type Container = {
  /** Undefined for a list. */
  keys: Set<string> | undefined;
  count: number;
  /** Undefined if no counted container can be at or below it. */
  path: string | undefined;
  limit: ReadingLimit | undefined;
};

const quote = 0x22;
const backslash = 0x5c;
const notJson = "not JSON";
const nonNumbers = ["NaN", "Infinity", "-Infinity"].map((text) => Buffer.from(text));
const literals = [...["true", "false", "null"].map((text) => Buffer.from(text)), ...nonNumbers];

class JsonScanner {
  readonly #bytes: Buffer;
  readonly #limits: JsonLimits;
  readonly #open: Container[] = [];
  readonly #counts: Record<string, number> = {};
  readonly #nonNumbers: { from: number; to: number }[] = [];
  #at = 0;
  #values = 0;
  #openKeys = 0;
  #key = "";

  constructor(bytes: Uint8Array, limits: JsonLimits) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#limits = limits;
  }

  scan(): JsonScan {
    this.#skipSpace();
    if (this.#at === this.#bytes.length) throw new Malformed("empty");
    const root = this.#bytes[this.#at] === 0x7b ? "object" : "other";
    do {
      this.#value();
    } while (this.#next());
    if (this.#at < this.#bytes.length) throw new Malformed(notJson);
    return { kind: "ok", root, counts: this.#counts, nonNumbers: this.#nonNumbers };
  }

  /** Reads the start of a container, or a whole text, number or literal. Empty containers are closed by `next`. */
  #value(): void {
    const { values } = this.#limits;
    if (++this.#values > values.max) throw new Malformed(overLimit(values));
    const byte = this.#bytes[this.#at];
    if (byte === 0x7b || byte === 0x5b) this.#enter(byte === 0x7b);
    else if (byte === quote) this.#text();
    else if (!this.#literal()) this.#number();
  }

  #enter(isObject: boolean): void {
    const depth = this.#limits.depth ?? readingLimits.jsonDepth;
    if (this.#open.length === depth.max)
      throw new Malformed(`nested deeper than ${depth.max} levels (${depth.honest})`);
    const above = this.#open.at(-1);
    const path = above ? below(above, this.#key) : "";
    const counted = this.#limits.counted ?? {};
    const limit = path !== undefined && Object.hasOwn(counted, path) ? counted[path] : undefined;
    const leads = path === "" || Object.keys(counted).some((wanted) => wanted.startsWith(`${path}.`));
    this.#open.push({
      keys: isObject ? new Set() : undefined,
      count: 0,
      path: limit || leads ? path : undefined,
      limit,
    });
    this.#at++;
  }

  /** Moves to the next value, closing containers that end here. False at the end of the text. */
  #next(): boolean {
    for (;;) {
      this.#skipSpace();
      const top = this.#open.at(-1);
      if (!top) return false;
      const byte = this.#bytes[this.#at];
      if (byte === (top.keys ? 0x7d : 0x5d)) {
        this.#leave(top);
        continue;
      }
      if (top.count > 0) {
        if (byte !== 0x2c) throw new Malformed(notJson);
        this.#at++;
        this.#skipSpace();
      }
      top.count++;
      if (top.limit && top.count > top.limit.max) throw new Malformed(`${top.path}: ${overLimit(top.limit)}`);
      if (top.keys) this.#readKey(top.keys);
      return true;
    }
  }

  #leave({ keys, count, path, limit }: Container): void {
    if (limit && path !== undefined) this.#counts[path] = count;
    this.#openKeys -= keys?.size ?? 0;
    this.#open.pop();
    this.#at++;
  }

  #readKey(keys: Set<string>): void {
    if (this.#bytes[this.#at] !== quote) throw new Malformed(notJson);
    const from = this.#at;
    const escaped = this.#text();
    // bytes as Latin-1 are as different as the keys, and take half the memory of UTF-16
    const key = escaped
      ? latin1Of(JSON.parse(this.#bytes.toString("utf8", from, this.#at)) as string)
      : this.#bytes.toString("latin1", from + 1, this.#at - 1);
    if (keys.has(key)) throw new Malformed(`the key ${clip(utf8Of(key))} appears twice in one object`);
    keys.add(key);
    const { words } = readingLimits;
    if (++this.#openKeys > words.max + 1000) throw new Malformed(overLimit({ ...words, unit: "keys" }));
    this.#key = key;
    this.#skipSpace();
    if (this.#bytes[this.#at++] !== 0x3a) throw new Malformed(notJson);
    this.#skipSpace();
  }

  /** Moves behind a text; returns whether it has escapes. */
  #text(): boolean {
    const bytes = this.#bytes;
    const from = this.#at + 1;
    let escaped = false;
    let at = from;
    for (; ; at++) {
      const byte = bytes[at];
      if (byte === quote) break;
      if (byte === undefined || byte < 0x20) throw new Malformed(notJson);
      if (byte !== backslash) continue;
      escaped = true;
      const kind = bytes[++at];
      if (kind === 0x75) {
        if (!/^[0-9a-fA-F]{4}$/.test(bytes.toString("latin1", at + 1, at + 5))) throw new Malformed(notJson);
        at += 4;
      } else if (kind === undefined || !'"\\/bfnrt'.includes(String.fromCharCode(kind)))
        throw new Malformed(notJson);
    }
    const { text = readingLimits.jsonTextBytes } = this.#limits;
    if (at - from > text.max) throw new Malformed(overLimit(text, at - from));
    this.#at = at + 1;
    return escaped;
  }

  #literal(): boolean {
    const found = literals.find(
      (literal) =>
        this.#bytes[this.#at] === literal[0] &&
        literal.equals(this.#bytes.subarray(this.#at, this.#at + literal.length)),
    );
    if (!found) return false;
    const to = this.#at + found.length;
    if (nonNumbers.includes(found)) this.#nonNumbers.push({ from: this.#at, to });
    this.#at = to;
    return true;
  }

  #number(): void {
    const { jsonNumberChars } = readingLimits;
    let end = this.#at;
    while (end < this.#bytes.length && isNumeric(this.#bytes[end]!)) end++;
    if (end - this.#at > jsonNumberChars.max) throw new Malformed(overLimit(jsonNumberChars, end - this.#at));
    const text = this.#bytes.toString("latin1", this.#at, end);
    if (!/^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text)) throw new Malformed(notJson);
    // readers disagree: some read infinity, others refuse it
    if (!Number.isFinite(Number(text)))
      throw new Malformed(`the number ${clip(text)} is larger than a double can hold`);
    this.#at = end;
  }

  #skipSpace(): void {
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at++;
    }
  }
}

function below(above: Container, key: string): string | undefined {
  if (above.path === undefined || !above.keys) return undefined;
  return above.path === "" ? key : `${above.path}.${key}`;
}

function isNumeric(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2d ||
    byte === 0x2b ||
    byte === 0x2e ||
    byte === 0x65 ||
    byte === 0x45
  );
}

/** Half a surrogate pair has no UTF-8, so such keys are kept apart from all others. */
function latin1Of(key: string): string {
  return key.isWellFormed() ? Buffer.from(key).toString("latin1") : `\u{1f5dd}${key}`;
}

function utf8Of(key: string): string {
  return key.startsWith("\u{1f5dd}") ? key : Buffer.from(key, "latin1").toString("utf8");
}
