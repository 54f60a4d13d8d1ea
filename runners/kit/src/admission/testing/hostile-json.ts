// Settings that are broken, ambiguous or bombs of a parser.
import { type HostileCase, listed, withFiles } from "./hostile-case.ts";

const deep = (open: string, close: string, levels: number) =>
  `{"a":${open.repeat(levels)}1${close.repeat(levels)}}`;
const bom = "\ufeff";

/** Texts that no settings file may have. */
const refused: Record<string, string | Uint8Array> = {
  "deep-lists-50-000": deep("[", "]", 50_000),
  "deep-objects-50-000": deep('{"a":', "}", 50_000),
  "deep-65": deep("[", "]", 64),
  "never-closed-million": `{"a":${"[".repeat(1_000_000)}`,
  "wide-list-600-000": `{"a":[${listed(600_000, () => "1")}]}`,
  "wide-objects-600-000": `{"a":[${listed(600_000, () => "{}")}]}`,
  "wide-keys-300-000": `{${listed(300_000, (at) => `"${at}":[]`)}`,
  "equal-keys": '{"model_type":"gpt2","model_type":"bert"}',
  "equal-keys-escaped": '{"model_type":"gpt2","\\u006dodel_type":"bert"}',
  "equal-keys-nested": '{"a":[{"b":{"c":1,"d":2,"c":3}}]}',
  "equal-half-surrogates": '{"\\ud800":1,"\\uD800":2}',
  "equal-keys-empty": '{"":1,"":2}',
  "number-1e400": '{"a":1e400}',
  "number-minus-1e400": '{"a":-1e400}',
  "number-5-000-digits": `{"a":${"9".repeat(5000)}}`,
  "number-101-digits": `{"a":${"9".repeat(101)}}`,
  "number-leading-zero": '{"a":01}',
  "number-plus": '{"a":+1}',
  "number-hexadecimal": '{"a":0x10}',
  "number-no-fraction": '{"a":1.}',
  "number-minus-alone": '{"a":-}',
  "literal-cut": '{"a":tru}',
  "literal-longer": '{"a":Infinityy}',
  "literal-python": '{"a":True}',
  "byte-order-mark": `${bom}{}`,
  "byte-order-mark-utf-16": Buffer.from(`${bom}{}`, "utf16le"),
  "utf-16": Buffer.from("{}", "utf16le"),
  "latin-1": Buffer.from('{"a":"\xe9"}', "latin1"),
  "utf-8-overlong": Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]),
  "utf-8-surrogate": Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
  "null-bytes": Buffer.alloc(4096),
  "null-byte-after": "{}\0",
  "null-byte-in-text": '{"a":"\0"}',
  "line-feed-in-text": '{"a":"\n"}',
  "escape-unknown": '{"a":"\\x41"}',
  "escape-cut": '{"a":"\\u12"}',
  "text-cut": '{"a":"b',
  "text-2-mb": `{"a":"${"x".repeat(2 << 20)}"}`,
  "key-2-mb": `{"${"x".repeat(2 << 20)}":1}`,
  "comma-after-last": '{"a":1,}',
  "comma-only": "{,}",
  "comma-lacking": '{"a":1 "b":2}',
  "colon-lacking": '{"a" 1}',
  "key-bare": "{a:1}",
  "key-number": "{1:1}",
  "quotes-single": "{'a':1}",
  comments: "{/* a */}",
  "two-documents": "{}{}",
  "closed-wrongly": '{"a":[1}]',
  "closed-twice": "{}}",
  cut: '{"a":',
  nothing: "",
  "spaces-only": " ".repeat(1000),
  "spaces-5-mb": `{}${" ".repeat(5 << 20)}`,
  "list-not-object": "[]",
  "null-not-object": "null",
  "text-not-object": '"{}"',
};

/** Odd texts that all readers understand alike. */
const accepted: Record<string, string> = {
  "number-1e30": '{"model_max_length":1000000000000000019884624838656}',
  "number-1e-400": '{"a":1e-400}',
  "numbers-of-python": '{"a":[NaN,Infinity,-Infinity]}',
  "half-surrogate": '{"a":"\\ud800"}',
  "key-of-prototype": '{"__proto__":{"a":1},"constructor":1,"toString":2}',
  "deep-63": deep("[", "]", 62),
  "text-of-json": `{"a":"${'{\\"a\\":'.repeat(1000)}"}`,
  "spaces-everywhere": ' \t\r\n{ "a" : [ ] , "b" : { } } \n',
};

/** Loaders go on without the first. */
const others: Record<string, string[]> = {
  "generation_config.json": [],
  "tokenizer_config.json": ["settings"],
  "special_tokens_map.json": ["settings"],
  "added_tokens.json": ["settings"],
};
const bombs = ["deep-lists-50-000", "wide-list-600-000", "equal-keys", "number-1e400", "spaces-5-mb"];
const fewKilobytes = new Set([
  "text-2-mb",
  "key-2-mb",
  "spaces-5-mb",
  "wide-list-600-000",
  "wide-objects-600-000",
]);

/** Every refused text in config.json; the bombs in the other settings, and the short ones as a tokenizer. */
export const hostileJson: HostileCase[] = [
  ...Object.entries(refused).map(([name, text]) =>
    withFiles(`config-${name}`, ["config"], { "config.json": text }),
  ),
  ...Object.entries(accepted).map(([name, text]) => withFiles(`config-${name}`, [], { "config.json": text })),
  ...Object.entries(others).flatMap(([file, codes]) =>
    bombs.map((name) => withFiles(`${file}-${name}`, codes, { [file]: refused[name]! })),
  ),
  ...Object.entries(refused)
    .filter(([name]) => !fewKilobytes.has(name) && name !== "wide-keys-300-000")
    .map(([name, text]) => withFiles(`tokenizer-${name}`, ["settings"], { "tokenizer.json": text })),
];
