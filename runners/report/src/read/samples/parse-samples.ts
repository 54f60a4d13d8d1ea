// Reads the samples of a score, one JSON object a line, into columns: a report reads millions of lines, and
// objects for them took most of its time and memory. One expression reads the lines that scorers write. For every
// other line JSON.parse and the format decide; the expression accepts no line that these refuse, and gives the
// same item.
import { isUtf8 } from "node:buffer";
import type { Items } from "@mlrb/core/statistics/items";
import { sample } from "@mlrb/formats/judged/sample";
import { followsFormat, type Reading, readFormat } from "@mlrb/formats/read-format";
import { objectIn } from "../../exports/json-pieces.ts";
import { unreadable } from "../read-plain.ts";

const lineFeed = 0x0a;
/** In bytes. The expression could run out of stack on a longer line. */
const plainMax = 64 << 10;
const letters = '[^"\\\\\\x00-\\x1f\\x7f-\\xff]*';
const text = `"${letters}"`;
const size = "(?:0|[1-9]\\d{0,20})(?:\\.\\d+)?";
const scalar = `(?:-?${size}(?:[eE][-+]?\\d+)?|${text}|true|false|null)`;
const list = `\\[(?:${scalar}(?:, ?${scalar})*)?\\]`;
const object = `\\{(?:${text}: ?${scalar}(?:, ?${text}: ?${scalar})*)?\\}`;
const other = `(?!"(?:id|group|cluster|value|weight)")${text}: ?(?:${scalar}|${list}|${object})`;
/** A line of ASCII without escapes, with its names and numbers in this order. */
const plainLine = new RegExp(
  `\\{(?:${other}, ?)*"id": ?"(${letters})"(?:, ?"group": ?"(${letters})")?(?:, ?"cluster": ?"(${letters})")?` +
    `, ?"value": ?(-?${size}), ?"weight": ?(${size})(?:, ?${other})*\\}\\n`,
  "y",
);
const isSample = followsFormat(sample);

/**
 * The items of a score. Ids and groups are not shortened, because they are compared, not shown. A line's cluster
 * overrides its group: items of one group may be independent, of one cluster not. `like`: another score of the
 * same test, whose names are shared where they are equal.
 */
export function parseSamples(given: Uint8Array | string, like?: Items): Reading<Items> {
  let bytes =
    typeof given === "string"
      ? Buffer.from(given)
      : Buffer.from(given.buffer, given.byteOffset, given.length);
  if (!isUtf8(bytes)) return unreadable("not UTF-8 text");
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
  if (bytes.length > 0 && bytes.at(-1) !== lineFeed) bytes = Buffer.concat([bytes, Buffer.of(lineFeed)]);
  const lines = bytes.toString("latin1"); // a character for each byte
  const ids: string[] = [];
  const [values, weights, of]: [number[], number[], number[]] = [[], [], []];
  const numbers = new Map<string, number>();
  for (let at = 0, next = 0; at < bytes.length; at = next + 1) {
    next = lines.indexOf("\n", at);
    plainLine.lastIndex = at;
    const plain = next - at < plainMax ? plainLine.exec(lines) : null;
    const found = plain ? fieldsOf(plain) : parsedLine(bytes.toString("utf8", at, next));
    if (typeof found === "string") return unreadable(`line ${ids.length + 1}: ${found}`);
    const { id, group, cluster = group, value, weight } = found;
    const expected = like?.ids[ids.length];
    ids.push(id === expected ? expected : id); // a part of `lines` would keep all of them in memory
    values.push(value);
    weights.push(weight);
    of.push(cluster === undefined ? -1 : numbers.getOrInsert(cluster, numbers.size));
  }
  const groups = { names: [...numbers.keys()], of: Int32Array.from(of) };
  const isGrouped = like && areEqual(groups.names, like.groups.names) && areEqual(groups.of, like.groups.of);
  const items = {
    ids: like && areEqual(ids, like.ids) ? like.ids : ids,
    values: Float64Array.from(values),
    weights: Float64Array.from(weights),
    groups: isGrouped ? like.groups : groups,
  };
  return { kind: "ok", value: items };
}

type Fields = { id: string; group?: string | undefined; cluster?: string | undefined } & {
  value: number;
  weight: number;
};

function fieldsOf([, id, group, cluster, value, weight]: RegExpExecArray): Fields {
  return { id: id!, group, cluster, value: Number(value), weight: Number(weight) };
}

/** A text is why the line is no sample. */
function parsedLine(line: string): Fields | string {
  const fields = objectIn(line);
  if (isSample(fields)) return fields;
  const reading = readFormat(sample, line);
  return reading.kind === "ok" ? "it nests too deep" : reading.cause;
}

function areEqual<T>(some: ArrayLike<T>, others: ArrayLike<T>): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at++) if (some[at] !== others[at]) return false;
  return true;
}
