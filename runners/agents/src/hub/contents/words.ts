// Splits text into words and hashes them, so that a row of a data set is found again in any encoding: JSON, CSV,
// Parquet or running text. Case, punctuation, white space, invisible characters and HTML's entities do not matter.

/** Two lanes of 32 bits. */
export type WordHash = [number, number];

const tailMax = 1 << 16;
const entities = /&(?:quot|apos|amp|lt|gt|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,6});/g;

/** `\u00e9`, `\xe9`, `\U000000e9` and `&#xe9;`. */
const hexadecimal = /\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\U[0-9a-fA-F]{8}|&#x[0-9a-fA-F]{1,6};/g;
/** UTF-16 and UTF-32 that was read as if each byte were a character. */
const wide = /(?:[^\0]\0{1,3}){2,}/g;

/** Feeds the words of a text that comes in pieces to `word`. */
export class WordReader {
  readonly #word: (hash: WordHash) => void;
  readonly #resolvesEscapes: boolean;
  #tail = "";

  /** `resolvesEscapes`: `\n`, `\u00e9` and `\xe9` mean what JSON and Python mean, `%20` and `&#233;` what the web does. */
  constructor(word: (hash: WordHash) => void, { resolvesEscapes = false } = {}) {
    this.#word = word;
    this.#resolvesEscapes = resolvesEscapes;
  }

  push(piece: string): void {
    const text = this.#tail + piece;
    // the last word, or escape, may go on in the next piece
    const lastBreak = Math.max(0, text.lastIndexOf(" "), text.lastIndexOf("\n"));
    const cut = text.length > tailMax ? text.length : lastBreak;
    this.#tail = text.slice(cut);
    this.#read(text.slice(0, cut));
  }

  end(): void {
    this.#read(this.#tail);
    this.#tail = "";
  }

  #read(text: string): void {
    if (text === "") return;
    const narrow = text.includes("\0") ? text.replace(wide, (run) => run.replaceAll("\0", "")) : text;
    const unescaped = this.#resolvesEscapes && /[\\%&]/.test(narrow) ? withoutEscapes(narrow) : narrow;
    const plain = unescaped.includes("&") ? unescaped.replace(entities, " ") : unescaped;
    if (isAscii(plain)) return void readAscii(plain, this.#word);
    const normal = plain
      .normalize("NFKC")
      .replace(/\p{Cf}+/gu, "")
      .toLowerCase();
    for (const [word] of normal.matchAll(/[\p{L}\p{N}]+/gu)) this.#word(wordHash(word));
  }
}

function withoutEscapes(text: string): string {
  return text
    .replace(hexadecimal, (whole) =>
      fromCode(Number.parseInt(whole.slice(whole.startsWith("&") ? 3 : 2), 16), whole),
    )
    .replace(/&#(\d{1,7});/g, (whole, code: string) => fromCode(Number(code), whole))
    .replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString())
    .replace(/\\./gs, " ");
}

const fromCode = (code: number, otherwise: string) =>
  code > 0x10ffff ? otherwise : String.fromCodePoint(code);

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** The same words as by the expressions of Unicode, several times faster: most of what is searched is ASCII. */
function readAscii(text: string, give: (hash: WordHash) => void): void {
  let one = laneOne;
  let two = laneTwo;
  let inWord = false;
  for (let at = 0; at < text.length; at++) {
    let code = text.charCodeAt(at);
    if (code >= 65 && code <= 90) code += 32;
    if ((code >= 97 && code <= 122) || (code >= 48 && code <= 57)) {
      inWord = true;
      one = nextOne(one, code);
      two = nextTwo(two, code);
    } else if (inWord) {
      give([one, two]);
      inWord = false;
      one = laneOne;
      two = laneTwo;
    }
  }
  if (inWord) give([one, two]);
}

/** FNV-1a in one lane, and another multiplier in the other. */
const [laneOne, laneTwo] = [0x811c9dc5, 0x9747b28c];
const nextOne = (one: number, code: number) => Math.imul(one ^ code, 0x01000193);
const nextTwo = (two: number, code: number) => Math.imul(two + code, 0x85ebca6b) ^ (two >>> 13);

function wordHash(word: string): WordHash {
  let one = laneOne;
  let two = laneTwo;
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    one = nextOne(one, code);
    two = nextTwo(two, code);
  }
  return [one, two];
}
