// Searches content for withheld rows. A row is found if each of its required texts (withheld-rows.ts) occurs
// whole, anywhere in the content and in any order.
import type { WithheldRows } from "@mlrb/formats/stage/withheld";
import { between, longWords, Prefix, wordsMin } from "./withheld-rows.ts";
import { type WordHash, WordReader } from "./words.ts";

/** So many short rows, making up such a share of all words, are no chance. */
const shortRowsMin = 10;
const shortShareMin = 0.05;

type Searched = { place: number; words: number; one: number; two: number };

/** The texts by the hash of their first words; made once and shared by searches. */
export class RowIndex {
  readonly rows: WithheldRows["rows"];
  readonly texts: WithheldRows["texts"];
  readonly byFirst = new Map<number, Searched[]>();

  constructor({ rows, texts }: WithheldRows) {
    this.rows = rows;
    this.texts = texts;
    for (const [place, [words = 0, firstOne = 0, firstTwo = 0, one = 0, two = 0]] of texts.entries())
      this.byFirst
        .getOrInsertComputed(mixed([firstOne, firstTwo]), () => [])
        .push({ place, words, one, two });
  }
}

/** 53 bits: a key that needs no text. */
function mixed([one, two]: WordHash): number {
  return (one >>> 0) * 2 ** 21 + (two >>> 11);
}

export class RowSearch {
  readonly #index: RowIndex;
  readonly #found: Uint8Array;
  readonly #readers: WordReader[];
  #words = 0;
  #covered = 0;

  constructor(index: RowIndex) {
    this.#index = index;
    this.#found = new Uint8Array(index.texts.length);
    this.#readers = [false, true].map((resolvesEscapes) => {
      const walk = new Walk(index, (place) => {
        this.#found[place] = 1;
        this.#covered += index.texts[place]![0]!;
      });
      return new WordReader(
        (word) => {
          if (!resolvesEscapes) this.#words++;
          walk.add(word);
        },
        { resolvesEscapes },
      );
    });
  }

  push(piece: string): void {
    for (const reader of this.#readers) reader.push(piece);
  }

  /** Ends a text: the next piece begins another. */
  end(): void {
    for (const reader of this.#readers) reader.end();
  }

  /** The places of the rows in what was pushed, those by chance too. */
  foundRows(): number[] {
    this.end();
    return [...this.#index.rows.keys()].filter((row) =>
      this.#index.rows[row]!.every((place) => this.#found[place] === 1),
    );
  }

  /** The number of withheld rows in what was pushed; 0 where only chance shows. */
  rowsFound(): number {
    const found = this.foundRows();
    const longest = (row: number) =>
      Math.max(...this.#index.rows[row]!.map((place) => this.#index.texts[place]![0]!));
    const long = found.filter((row) => longest(row) >= longWords).length;
    const short = found.length - long;
    const noChance = short >= shortRowsMin && this.#covered >= shortShareMin * this.#words;
    return long + (noChance ? short : 0);
  }
}

/** One pass over words. Texts whose first words occurred are compared when all their words are there. */
class Walk {
  readonly #index: RowIndex;
  readonly #hit: (place: number) => void;
  readonly #state = new Prefix();
  /** The states before each of the last words, as a ring. */
  readonly #before = Array.from({ length: wordsMin }, () => new Prefix());
  readonly #due = new Map<number, { from: Prefix; text: Searched }[]>();
  #at = 0;

  constructor(index: RowIndex, hit: (place: number) => void) {
    this.#index = index;
    this.#hit = hit;
  }

  add(word: WordHash): void {
    this.#before[this.#at % wordsMin]!.take(this.#state);
    this.#state.add(word);
    this.#at++;
    if (this.#at >= wordsMin) this.#begin(this.#before[this.#at % wordsMin]!);
    const due = this.#due.get(this.#at);
    if (due === undefined) return;
    this.#due.delete(this.#at);
    for (const { from, text } of due) {
      const [one, two] = between(from, this.#state, text.words);
      if (one === text.one && two === text.two) this.#hit(text.place);
    }
  }

  #begin(from: Prefix): void {
    const texts = this.#index.byFirst.get(mixed(between(from, this.#state, wordsMin)));
    if (texts === undefined) return;
    const kept = new Prefix().take(from);
    for (const text of texts)
      this.#due.getOrInsertComputed(this.#at + text.words - wordsMin, () => []).push({ from: kept, text });
  }
}
