// Rows that agents must not get, as hashes: what can be searched for without the rows themselves.
import type { WithheldRows } from "@mlrb/formats/stage/withheld";
import { type WordHash, WordReader } from "./words.ts";

/** Shorter texts (a label, a name) occur everywhere and say nothing about a row. */
export const wordsMin = 4;

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

/** Each row is the list of its texts. Rows without a text of four words are left out. */
export function withheldRows(rows: Iterable<readonly string[]>): WithheldRows {
  const texts: WithheldRows["texts"] = [];
  const known = new Map<string, number>();
  const found = new Map<string, number[]>();
  for (const row of rows) {
    const places = new Set<number>();
    for (const text of row) {
      const hashed = textHash(text);
      if (hashed === undefined) continue;
      const name = hashed.join(" ");
      let place = known.get(name);
      if (place === undefined) {
        place = texts.push(hashed) - 1;
        known.set(name, place);
      }
      places.add(place);
    }
    const sorted = [...places].sort((a, b) => a - b);
    if (sorted.length > 0) found.set(sorted.join(" "), sorted);
  }
  return { texts, rows: [...found.values()] };
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
