// Reads the samples of a score, one JSON object a line, into columns: a report reads millions of lines, and objects for
// them took most of its time and memory. Lines as scorers write them are read from their bytes. For every other line
// JSON.parse and the format decide; the bytes accept no line that these refuse, and give the same item.
import { isUtf8 } from "node:buffer";
import type { Items } from "@mlrb/core/statistics/items";
import { sample } from "@mlrb/formats/judged/sample";
import { followsFormat, type Reading, readFormat } from "@mlrb/formats/read-format";
import { objectIn } from "../../exports/json-pieces.ts";
import { unreadable } from "../read-plain.ts";
import { SampleLine } from "./sample-line.ts";

const lineFeed = 0x0a;

/**
 * The items of a score. Ids and groups are not shortened, because they are compared, not shown. A line's cluster overrides
 * its group: items of one group may be independent, of one cluster not. `like`: another score of the same test, whose
 * names are shared where they are equal.
 */
export function parseSamples(text: Uint8Array | string, like?: Items): Reading<Items> {
  let bytes =
    typeof text === "string" ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.length);
  if (!isUtf8(bytes)) return unreadable("not UTF-8 text");
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
  if (bytes.length > 0 && bytes.at(-1) !== lineFeed) bytes = Buffer.concat([bytes, Buffer.of(lineFeed)]);
  const columns = new Columns(bytes, like);
  for (let at = 0; at < bytes.length; ) {
    const end = columns.addPlain(at);
    if (end >= 0) {
      at = end;
      continue;
    }
    const next = bytes.indexOf(lineFeed, at);
    const cause = columns.addOther(bytes.toString("utf8", at, next));
    if (cause !== undefined) return unreadable(`line ${columns.length + 1}: ${cause}`);
    at = next + 1;
  }
  return { kind: "ok", value: columns.items() };
}

class Columns {
  length = 0;
  readonly #bytes: Buffer;
  readonly #like: Items | undefined;
  readonly #line = new SampleLine();
  readonly #ids: string[] = [];
  readonly #numbers = new Map<string, number>();
  #values: Float64Array;
  #weights: Float64Array;
  #groups: Int32Array;

  constructor(bytes: Buffer, like: Items | undefined) {
    this.#bytes = bytes;
    this.#like = like;
    const room = like?.ids.length ?? 1024;
    this.#values = new Float64Array(room);
    this.#weights = new Float64Array(room);
    this.#groups = new Int32Array(room);
  }

  /** Adds the line at `at` if its bytes show that it is a sample; returns the place after it, or −1. */
  addPlain(at: number): number {
    const line = this.#line;
    const end = line.read(this.#bytes, at);
    if (end < 0) return -1;
    const { names, of } = this.#like?.groups ?? {};
    const id = this.#name(line.id, this.#like?.ids[this.length]);
    const span = line.cluster.at < 0 ? line.group : line.cluster;
    const group = span.at < 0 ? undefined : this.#name(span, names?.[of![this.length]!]);
    this.#add({ id, group, value: line.value, weight: line.weight });
    return end;
  }

  /** Adds a line, or returns why it is no sample. */
  addOther(line: string): string | undefined {
    const fields = objectIn(line);
    if (!isSample(fields)) {
      const reading = readFormat(sample, line);
      return reading.kind === "ok" ? "it nests too deep" : reading.cause;
    }
    const { id, group, cluster = group, value, weight } = fields;
    this.#add({ id, group: cluster, value, weight });
    return undefined;
  }

  items(): Items {
    const { length } = this;
    const found: Items = {
      ids: this.#ids,
      values: this.#values.slice(0, length),
      weights: this.#weights.slice(0, length),
      groups: { names: [...this.#numbers.keys()], of: this.#groups.slice(0, length) },
    };
    const like = this.#like;
    if (!like || like.ids.length !== length) return found;
    const { ids, groups } = like;
    if (areEqual(found.ids, ids)) found.ids = ids;
    if (areEqual(found.groups.names, groups.names) && areEqual(found.groups.of, groups.of))
      found.groups = groups;
    return found;
  }

  #add({ id, group, value, weight }: SampleFields): void {
    const at = this.length++;
    if (at === this.#values.length) this.#grow();
    this.#ids.push(id);
    this.#values[at] = value;
    this.#weights[at] = weight;
    this.#groups[at] = group === undefined ? -1 : this.#numbers.getOrInsert(group, this.#numbers.size);
  }

  #grow(): void {
    const room = Math.max(1024, 2 * this.#values.length);
    const old = [this.#values, this.#weights, this.#groups] as const;
    this.#values = new Float64Array(room);
    this.#weights = new Float64Array(room);
    this.#groups = new Int32Array(room);
    this.#values.set(old[0]);
    this.#weights.set(old[1]);
    this.#groups.set(old[2]);
  }

  /** `expected` itself if these bytes are its text, so that most lines make no text. */
  #name({ at, end }: { at: number; end: number }, expected: string | undefined): string {
    if (expected !== undefined && isText(this.#bytes, { at, end }, expected)) return expected;
    const raw = this.#bytes.toString("utf8", at, end);
    return raw.includes("\\") ? JSON.parse(`"${raw}"`) : raw;
  }
}

type SampleFields = { id: string; group: string | undefined; value: number; weight: number };

const isSample = followsFormat(sample);

function areEqual<T>(some: ArrayLike<T>, others: ArrayLike<T>): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at++) if (some[at] !== others[at]) return false;
  return true;
}

/** Whether these bytes are `text`. False for escapes and letters outside of ASCII, whose bytes may mean another text. */
function isText(bytes: Buffer, { at, end }: { at: number; end: number }, text: string): boolean {
  if (end - at !== text.length) return false;
  for (let index = 0; index < text.length; index++) {
    const byte = bytes[at + index]!;
    if (byte !== text.charCodeAt(index) || byte === 0x5c || byte > 0x7f) return false;
  }
  return true;
}
