// Rows that agents must not get, as hashes: what can be searched for without the rows themselves.
import type { WithheldRows } from "@mlrb/formats/stage/withheld";
import { type WordHash, WordReader } from "./words.ts";

/** Shorter texts (a label, a name) occur everywhere and say nothing about a row. */
export const wordsMin = 4;

/** A row whose longest text is shorter than this may occur by chance. */
export const longWords = 8;

/** A text of so many rows is a label, a prompt or a shared passage: it says little about one row. */
const labelRowsMin = 10;

const [baseOne, baseTwo] = [0x01000193, 0x9e3779b1];

/** The state of a polynomial hash over a sequence of words. */
export class Prefix {
  one = 0;
  two = 0;

  take({ one, two }: Prefix): this {
    this.one = one;
    this.two = two;
    return this;
  }

  add([one, two]: WordHash): void {
    this.one = (Math.imul(this.one, baseOne) + one) | 0;
    this.two = (Math.imul(this.two, baseTwo) + two) | 0;
  }
}

/** The hash of the words between two states, `words` apart. */
export function between(from: Prefix, to: Prefix, words: number): WordHash {
  const one = (to.one - Math.imul(from.one, power(baseOne, words))) | 0;
  const two = (to.two - Math.imul(from.two, power(baseTwo, words))) | 0;
  return [one, two];
}

function power(base: number, exponent: number): number {
  let result = 1;
  for (let square = base, left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = Math.imul(result, square);
    square = Math.imul(square, square);
  }
  return result;
}

/**
 * Each row is the list of its texts. Rows without a text of four words are left out. Labels and identifiers are
 * not required where another text of the row remains: a mirror may lack their column.
 */
export function withheldRows(rows: Iterable<readonly string[]>): WithheldRows {
  const texts: WithheldRows["texts"] = [];
  const known = new Map<string, number>();
  const identifiers = new Set<number>();
  const found: number[][] = [];
  for (const row of rows) {
    const places = new Set<number>();
    for (const text of row) {
      const hashed = textHash(text);
      if (hashed === undefined) continue;
      const place = known.getOrInsertComputed(hashed.join(" "), () => texts.push(hashed) - 1);
      if (!/\s/u.test(text.trim())) identifiers.add(place);
      places.add(place);
    }
    found.push([...places]);
  }
  const whole = distinct(found);
  const uses = texts.map(() => 0);
  for (const place of whole.flat()) uses[place]!++;
  const kinds = {
    weak: (place: number) => identifiers.has(place) || uses[place]! >= labelRowsMin,
    long: (place: number) => texts[place]![0]! >= longWords,
  };
  return onlyUsed(texts, distinct(whole.flatMap((row) => requiredTexts(row, kinds))));
}

/** The row without its weak texts. The whole row too, if they are all of its long texts. */
function requiredTexts(
  row: number[],
  { weak, long }: { weak(place: number): boolean; long(place: number): boolean },
): number[][] {
  const strong = row.filter((place) => !weak(place));
  if (strong.length === 0 || strong.length === row.length) return [row];
  return strong.some(long) || !row.some(long) ? [strong] : [strong, row];
}

/** Rows as sorted places of texts, each once. */
function distinct(rows: number[][]): number[][] {
  const sorted = rows.filter((row) => row.length > 0).map((row) => row.sort((a, b) => a - b));
  return [...new Map(sorted.map((row) => [row.join(" "), row])).values()];
}

function onlyUsed(texts: WithheldRows["texts"], rows: number[][]): WithheldRows {
  const used = [...new Set(rows.flat())].sort((a, b) => a - b);
  const placeOf = new Map(used.map((old, place) => [old, place]));
  return {
    texts: used.map((place) => texts[place]!),
    rows: rows.map((row) => row.map((place) => placeOf.get(place)!)),
  };
}

/** Words, hash of the first four, and hash of all. */
function textHash(text: string): WithheldRows["texts"][number] | undefined {
  const words: WordHash[] = [];
  const reader = new WordReader((word) => words.push(word));
  reader.push(text);
  reader.end();
  if (words.length < wordsMin) return undefined;
  const start = new Prefix();
  const state = new Prefix();
  let first: WordHash = [0, 0];
  for (const [at, word] of words.entries()) {
    state.add(word);
    if (at === wordsMin - 1) first = between(start, state, wordsMin);
  }
  return [words.length, ...first, ...between(start, state, words.length)];
}

/** All texts in a value, in order. */
export function textsOf(value: unknown): string[] {
  const texts: string[] = [];
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") texts.push(next);
    else if (Array.isArray(next)) for (const one of next) open.push(one);
    else if (next !== null && typeof next === "object") for (const one of Object.values(next)) open.push(one);
  }
  return texts.reverse();
}
