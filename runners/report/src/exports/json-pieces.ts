// Writes JSON in pieces, so that a document of any length needs the memory of one part. Pure.
import { isTable } from "@mlrb/formats/is-table";
import { nestsDeeper } from "@mlrb/formats/nests-deeper";
import { readingLimits } from "@mlrb/kit/admission/reading-limits";

type Part = unknown | Streamed;

const streamed = Symbol("written one by one");
type Streamed =
  | { [streamed]: () => Iterable<unknown>; as: "list" }
  | { [streamed]: () => Iterable<[string, unknown]>; as: "object" };

/** A list whose elements are made while it is written; each may be streamed itself. */
export function listOf(elements: () => Iterable<unknown>): Part {
  return { [streamed]: elements, as: "list" };
}

/** An object whose fields are made while it is written. */
export function objectOf(entries: () => Iterable<[string, unknown]>): Part {
  return { [streamed]: entries, as: "object" };
}

/** The JSON object that `text` is; undefined where it is none, or one that nests too deep to be written again. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isTable(value) && !nestsDeeper(value, readingLimits.jsonDepth.max) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A text as it is, anything else as JSON: `String` would call what an object of a stranger has as `toString`. */
export function valueText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "unknown");
}

/** The text of `value`, an object or a list, which may hold listOf and objectOf at any depth. Leaves undefined out. */
export function* jsonPieces(value: Part): Generator<string> {
  if (isStreamed(value)) {
    const list = value.as === "list";
    yield list ? "[" : "{";
    let between = "\n";
    for (const one of value[streamed]()) {
      yield between;
      between = ",\n";
      if (list) yield* jsonPieces(one);
      else yield* entryPieces(one as [string, unknown]);
    }
    yield list ? "]" : "}";
    return;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value) || !holdsStreamed(value)) {
    yield text(value);
    return;
  }
  yield "{";
  let between = "";
  for (const entry of Object.entries(value)) {
    if (entry[1] === undefined) continue;
    yield between;
    between = ",\n";
    yield* entryPieces(entry);
  }
  yield "}";
}

function* entryPieces([name, value]: [string, unknown]): Generator<string> {
  yield `${text(name)}:`;
  yield* jsonPieces(value);
}

/** Few readers accept half a surrogate pair, which JSON allows; it becomes U+FFFD. */
function text(value: unknown): string {
  return JSON.stringify(value).replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, "$1\ufffd");
}

function isStreamed(value: unknown): value is Streamed {
  return typeof value === "object" && value !== null && streamed in value;
}

function holdsStreamed(value: object): boolean {
  return Object.values(value).some(
    (one) =>
      isStreamed(one) ||
      (typeof one === "object" && one !== null && !Array.isArray(one) && holdsStreamed(one)),
  );
}
