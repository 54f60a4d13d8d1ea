// Splits text into words and hashes them, so that a row of a data set is found again in any encoding: JSON, CSV, Parquet
// or running text. Case, punctuation, white space, invisible characters and HTML's entities do not matter.

/** Two lanes of 32 bits. */
export type WordHash = [number, number];

const tailMax = 1 << 16;

/** Feeds the words of a text that comes in pieces to `word`. */
export class WordReader {
  readonly #word: (hash: WordHash) => void;
  readonly #resolvesEscapes: boolean;
  #tail = "";

  /** `resolvesEscapes`: `\n`, `\"` and `\u00e9` mean what JSON means by them. */
  constructor(word: (hash: WordHash) => void, { resolvesEscapes = false } = {}) {
    this.#word = word;
    this.#resolvesEscapes = resolvesEscapes;
  }

  push(piece: string): void {
    const text = this.#tail + piece;
    // the last word, or escape, may go on in the next piece
    const cut = text.length > tailMax ? text.length : lastBreak(text);
    this.#tail = text.slice(cut);
    this.#read(text.slice(0, cut));
  }

  end(): void {
    this.#read(this.#tail);
    this.#tail = "";
  }

  #read(text: string): void {
    if (text === "") return;
    const plain = (this.#resolvesEscapes ? withoutEscapes(text) : text)
      .replace(/&(?:quot|apos|amp|lt|gt|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,6});/g, " ")
      .normalize("NFKC")
      .replace(/\p{Cf}+/gu, "")
      .toLowerCase();
    for (const [word] of plain.matchAll(/[\p{L}\p{N}]+/gu)) this.#word(wordHash(word));
  }
}

/** Where the last white space of the text begins; 0 without one. */
function lastBreak(text: string): number {
  for (let at = text.length - 1; at >= 0; at--) {
    const code = text.charCodeAt(at);
    if (code === 32 || code === 10) return at;
  }
  return 0;
}

function withoutEscapes(text: string): string {
  return text
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\./gs, " ");
}

/** FNV-1a in one lane, and another multiplier in the other. */
function wordHash(word: string): WordHash {
  let one = 0x811c9dc5;
  let two = 0x9747b28c;
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul(two + code, 0x85ebca6b) ^ (two >>> 13);
  }
  return [one, two];
}
