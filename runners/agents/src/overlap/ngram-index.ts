// The n-grams of words of scored rows, as hashes: what the texts of an attempt are compared with. It holds no text.
import { between, Prefix } from "../hub/contents/withheld-rows.ts";
import { type WordHash, WordReader } from "../hub/contents/words.ts";

export type OverlapMeasure = {
  /** Words of an n-gram. */
  n: number;
  /** A row with fewer different n-grams than this says nothing, e.g. a label or a short question. */
  ngramsMin: number;
};

export class NgramIndex {
  readonly measure: OverlapMeasure;
  /** The rows that hold each n-gram. */
  readonly #rowsOf = new Map<number, number[]>();
  /** The number of different n-grams of each row that are not given to agents. */
  readonly #sizes: number[] = [];

  /** Each row is the list of its texts; an n-gram never spans two of them. */
  constructor(rows: Iterable<readonly string[]>, measure: OverlapMeasure) {
    this.measure = measure;
    for (const texts of rows) {
      const row = this.#sizes.length;
      const own = new Set<number>();
      const reader = new NgramReader(measure.n, (ngram) => own.add(ngram));
      for (const text of texts) {
        reader.push(text);
        reader.end();
      }
      for (const ngram of own) this.#rowsOf.getOrInsertComputed(ngram, () => []).push(row);
      this.#sizes.push(own.size);
    }
  }

  /** Leaves out the n-grams of a text that agents are given, e.g. of the public data. */
  leaveOut(ngram: number): void {
    const rows = this.#rowsOf.get(ngram);
    if (rows === undefined) return;
    this.#rowsOf.delete(ngram);
    for (const row of rows) this.#sizes[row]!--;
  }

  has(ngram: number): boolean {
    return this.#rowsOf.has(ngram);
  }

  rowCounts(): { all: number; tested: number } {
    const tested = this.#sizes.filter((size) => size >= this.measure.ngramsMin).length;
    return { all: this.#sizes.length, tested };
  }

  /** The share of each tested row's n-grams that is among `found`, of rows with any, by row. */
  sharesOf(found: Iterable<number>): Map<number, number> {
    const counts = new Map<number, number>();
    for (const ngram of found)
      for (const row of this.#rowsOf.get(ngram) ?? []) counts.set(row, (counts.get(row) ?? 0) + 1);
    const tested = [...counts].filter(([row]) => this.#sizes[row]! >= this.measure.ngramsMin);
    return new Map(tested.map(([row, count]) => [row, count / this.#sizes[row]!]));
  }
}

/** Gives each n-gram of a text that comes in pieces, as 53 bits. */
export class NgramReader {
  readonly #words: WordReader;
  /** The states before each of the last n words, as a ring. */
  readonly #before: Prefix[];
  readonly #state = new Prefix();
  #at = 0;

  constructor(n: number, give: (ngram: number) => void, { resolvesEscapes = false } = {}) {
    this.#before = Array.from({ length: n }, () => new Prefix());
    this.#words = new WordReader((word) => this.#add(word, give), { resolvesEscapes });
  }

  push(piece: string): void {
    this.#words.push(piece);
  }

  /** Ends a text: the next piece begins another. */
  end(): void {
    this.#words.end();
    this.#at = 0;
  }

  #add(word: WordHash, give: (ngram: number) => void): void {
    const n = this.#before.length;
    this.#before[this.#at % n]!.take(this.#state);
    this.#state.add(word);
    this.#at++;
    if (this.#at < n) return;
    const [one, two] = between(this.#before[this.#at % n]!, this.#state, n);
    give((one >>> 0) * 2 ** 21 + (two >>> 11));
  }
}
