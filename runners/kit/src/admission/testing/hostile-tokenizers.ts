// Vocabularies that are too large, and tokenizers whose rules take forever.
import { type HostileCase, listed, withFiles } from "./hostile-case.ts";

const million = 1_000_000;
const word = (at: number) => `"w${at}":${at}`;
const vocabulary = (count: number, start = 0) => `{${listed(count, (at) => word(start + at))}}`;
const tokenizer = (model: string, more = "") => `{"version":"1.0"${more},"model":${model}}`;
const wordLevel = (vocab: string, more = "") => tokenizer(`{"type":"WordLevel","vocab":${vocab}}`, more);
const small = '{"a":0,"b":1}';
const added = (at: number, content = `t${at}`) =>
  `{"id":${at},"content":"${content}","single_word":false,"lstrip":false,"rstrip":false,"normalized":true,"special":false}`;
const lines = (count: number) => Array.from({ length: count }, (_, at) => `w${at}\n`).join("");

/** A sentencepiece model of `count` pieces "a". */
function pieces(count: number): Uint8Array {
  const piece = Buffer.from([0x0a, 0x03, 0x0a, 0x01, 0x61]);
  return Buffer.alloc(piece.length * count, piece);
}

const large = { large: true };
/** Beside a tokenizer.json, loaders read no other vocabulary. */
const alone = { "tokenizer.json": undefined };

/** Vocabularies beyond any published one. */
const tooLarge: HostileCase[] = [
  withFiles(
    "vocabulary-5-million",
    ["settings"],
    () => ({ "tokenizer.json": wordLevel(vocabulary(5 * million)) }),
    large,
  ),
  withFiles("vocabulary-1-000-001", ["settings"], () => ({
    "tokenizer.json": wordLevel(vocabulary(million + 1)),
  })),
  withFiles("vocabulary-list-1-000-001", ["settings"], () => ({
    "tokenizer.json": tokenizer(
      `{"type":"Unigram","unk_id":0,"vocab":[${listed(million + 1, (at) => `["w${at}",0]`)}]}`,
    ),
  })),
  withFiles(
    "vocabulary-half-added",
    ["settings"],
    () => ({
      "tokenizer.json": wordLevel(
        vocabulary(600_000),
        `,"added_tokens":[${listed(500_000, (at) => added(600_000 + at))}]`,
      ),
    }),
    large,
  ),
  withFiles("merges-1-000-001", ["settings"], () => ({
    "tokenizer.json": tokenizer(
      `{"type":"BPE","vocab":${small},"merges":[${listed(million + 1, () => '"a b"')}]}`,
    ),
  })),
  withFiles(
    "tokenizer-9-million-values",
    ["settings"],
    () => ({
      "tokenizer.json": wordLevel(
        small,
        `,"normalizer":[${listed(9, () => `[${listed(999_999, () => "1")}]`)}]`,
      ),
    }),
    large,
  ),
  withFiles(
    "tokenizer-open-keys-2-million",
    ["settings"],
    () => ({
      "tokenizer.json": `{${listed(900_000, word)},"x":${vocabulary(900_000)}}`,
    }),
    large,
  ),
  withFiles(
    "vocab-json-5-million",
    ["settings"],
    () => ({ ...alone, "merges.txt": "a b\n", "vocab.json": vocabulary(5 * million) }),
    large,
  ),
  withFiles(
    "vocab-txt-5-million",
    ["tokenizer"],
    () => ({ ...alone, "vocab.txt": lines(5 * million) }),
    large,
  ),
  withFiles("vocab-txt-of-line-feeds", ["tokenizer"], () => ({
    ...alone,
    "vocab.txt": "\n".repeat(million + 1),
  })),
  withFiles("vocab-txt-of-returns", ["tokenizer"], () => ({
    ...alone,
    "vocab.txt": "\r".repeat(million + 1),
  })),
  withFiles("merges-txt-2-million", ["tokenizer"], () => ({
    ...alone,
    "vocab.json": small,
    "merges.txt": lines(2 * million),
  })),
  withFiles("pieces-1-000-001", ["tokenizer"], () => ({ ...alone, "tokenizer.model": pieces(million + 1) })),
  withFiles("spiece-1-000-001", ["tokenizer"], () => ({ ...alone, "spiece.model": pieces(million + 1) })),
  withFiles("tiktoken-1-000-001", ["tokenizer"], () => ({
    ...alone,
    "tokenizer.model": "YQ== 0\n".repeat(million + 1),
  })),
  withFiles("pieces-empty", ["tokenizer"], { ...alone, "tokenizer.model": "" }),
  withFiles("vocab-txt-empty", ["tokenizer"], { ...alone, "vocab.txt": "" }),
  withFiles("charsmap-2-mb", ["settings"], () => ({
    "tokenizer.json": wordLevel(
      small,
      `,"normalizer":{"type":"Precompiled","precompiled_charsmap":"${"A".repeat(2 << 20)}"}`,
    ),
  })),
];

const sequence = (levels: number) =>
  `${'{"type":"Sequence","normalizers":['.repeat(levels)}{"type":"NFC"}${"]}".repeat(levels)}`;
const replace = '{"type":"Replace","pattern":{"String":"a"},"content":"aa"}';
const split = (regex: string) =>
  `,"pre_tokenizer":{"type":"Split","pattern":{"Regex":${JSON.stringify(regex)}},"behavior":"Isolated","invert":false}`;

/** Small files that take long or break only in the loader. */
const onLoad: Record<string, string> = {
  "ids-overlap": wordLevel('{"a":0,"b":0,"c":0}'),
  "ids-2-to-32": wordLevel('{"a":4294967295}'),
  "ids-1e18": wordLevel('{"a":1000000000000000000}'),
  "ids-negative": wordLevel('{"a":-1}'),
  "ids-with-gaps": wordLevel('{"a":0,"b":900000000}'),
  "added-overlap": wordLevel(small, `,"added_tokens":[${added(0, "x")},${added(0, "y")}]`),
  "added-cyclic": wordLevel('{"a":1,"b":0}', `,"added_tokens":[${added(0, "a")},${added(1, "b")}]`),
  "added-empty": wordLevel(small, `,"added_tokens":[${added(2, "")}]`),
  "replace-chain-10-000": wordLevel(
    small,
    `,"normalizer":{"type":"Sequence","normalizers":[${listed(10_000, () => replace)}]}`,
  ),
  "replace-doubles-40-times": wordLevel(
    small,
    `,"normalizer":{"type":"Sequence","normalizers":[${listed(40, () => replace)}]}`,
  ),
  "prepend-1-mb": wordLevel(small, `,"normalizer":{"type":"Prepend","prepend":"${"a".repeat(1_000_000)}"}`),
  "sequence-25-deep": wordLevel(small, `,"normalizer":${sequence(25)}`),
  "split-nested-repeats": wordLevel(small, split("(a+)+$")),
  "split-alternatives": wordLevel(small, split("(a|a|aa)*b")),
  "split-backward-references": wordLevel(small, split("(a*)*\\1\\1$")),
  "split-counted-repeats": wordLevel(small, split("((a{1,1000}){1,1000}){1,1000}")),
  "type-unknown": tokenizer('{"type":"Nothing"}'),
  "model-absent": "{}",
  "merges-unknown": tokenizer(`{"type":"BPE","vocab":${small},"merges":["x y"]}`),
};

export const hostileTokenizers: HostileCase[] = [
  ...tooLarge,
  withFiles("sequence-40-deep", ["settings"], {
    "tokenizer.json": wordLevel(small, `,"normalizer":${sequence(40)}`),
  }),
  ...Object.entries(onLoad).map(([name, text]) =>
    withFiles(`tokenizer-${name}`, [], { "tokenizer.json": text }, { explodes: "on load" }),
  ),
  withFiles("vocabulary-1-million", [], () => ({ "tokenizer.json": wordLevel(vocabulary(million)) })),
  withFiles("vocab-txt-1-million-windows", [], () => ({ "vocab.txt": "a\r\n".repeat(million) })),
  withFiles("word-auto-map", [], { "tokenizer.json": wordLevel('{"auto_map":0,"trust_remote_code":1}') }),
];
