// The readers of bytes of strangers, each as a function from bytes to an answer, with honest inputs of its format.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exampleLedger } from "@mlrb/formats/testing/example-ledger";
import { verifyTrajectory } from "../../attempts/verify-trajectory.ts";
import { readLedger } from "../../rules/ledger.ts";
import { provenanceData } from "../../rules/record-rules.ts";
import { readSafetensors } from "../../safetensors/safetensors.ts";
import { fileOf } from "../../safetensors/testing/safetensors-bytes.ts";
import { strictJson } from "../admission-json.ts";
import { vocabularyFiles } from "../admission-vocabulary.ts";
import { admit } from "../admit-submission.ts";
import { readingLimits } from "../reading-limits.ts";
import { writeCase } from "./hostile-case.ts";

export type FuzzTarget = {
  name: string;
  honest: Uint8Array[];
  words: string[];
  answer: (bytes: Uint8Array) => string;
};

const jsonWords = [
  ...["{", "}", "[", "]", ",", ":", '"', "\\", "\\u0061", "\\ud800", "null", "true", "NaN", "-Infinity"],
  ...[
    "0",
    "-1",
    "1e400",
    "1.5e-7",
    "9".repeat(120),
    '"a":',
    '"__proto__":',
    "\ufeff",
    "\0",
    " ",
    "[[[[[[[[[",
  ],
];
const headerWords = [
  ...jsonWords,
  ...[
    '"dtype":"F32"',
    '"F4"',
    '"shape":[2]',
    '"data_offsets":[0,8]',
    '"__metadata__":{}',
    "4294967296",
    "9007199254740993",
  ],
];
const honestJson = [
  '{"a":[1,2.5,-3e4,true,null,"x\\n"],"b":{"c":{}}}',
  '{"vocab":{"a":0},"x":[NaN,-Infinity]}',
  "[]",
];
const tokenizer = '{"added_tokens":[{"id":1}],"model":{"vocab":{"a":0},"merges":["a b"]}}';
const bytesOf = (texts: string[]) => texts.map((text) => Buffer.from(text));

/** Every reader below a temporary folder; `close` removes it. */
export function fuzzTargets(): { targets: FuzzTarget[]; close: () => void } {
  const root = mkdtempSync(join(tmpdir(), "fuzz-"));
  const { folder } = writeCase(root, { name: "model", codes: [], make: () => undefined });
  const inFile =
    (name: string, read: (path: string) => unknown) =>
    (bytes: Uint8Array): string => {
      const path = join(root, name);
      writeFileSync(path, bytes);
      return JSON.stringify(read(path));
    };
  const inModel = (name: string) => (bytes: Uint8Array) => {
    writeFileSync(join(folder, name), bytes);
    const admission = admit(folder);
    rmSync(join(folder, name));
    if (
      admission.reasons.some(
        ({ detail }) => detail.length > readingLimits.reasonChars.max || /\p{Cc}/u.test(detail),
      )
    )
      throw new Error(`a reason is too long or not printable: ${JSON.stringify(admission)}`);
    return JSON.stringify(admission);
  };
  const targets: FuzzTarget[] = [
    {
      name: "JSON",
      honest: bytesOf(honestJson),
      words: jsonWords,
      answer: (bytes) => JSON.stringify(strictJson(bytes, { values: readingLimits.settingsValues })),
    },
    {
      name: "safetensors headers",
      honest: bytesOf([
        '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F16","shape":[1,2],"data_offsets":[8,12]}}',
        '{"__metadata__":{"a":"b"},"a":{"dtype":"U8","shape":[12],"data_offsets":[0,12]}}',
      ]),
      words: headerWords,
      answer: (bytes) => {
        const header = Buffer.from(bytes).toString();
        return inFile("x.safetensors", (path) => readSafetensors(path))(fileOf(header, Buffer.alloc(12)));
      },
    },
    { name: "config.json", honest: bytesOf(honestJson), words: jsonWords, answer: inModel("config.json") },
    {
      name: "tokenizer.json",
      honest: bytesOf([tokenizer]),
      words: jsonWords,
      answer: inFile("tokenizer.json", vocabularyFiles["tokenizer.json"]!),
    },
    {
      name: "sentencepiece models",
      honest: [Buffer.from([0x0a, 3, 0x0a, 1, 0x61, 0x12, 2, 8, 1]), Buffer.from("YQ== 0\nYg== 1\n")],
      words: ["\n", "\r\n", "\x0a\x03", "\x12\x7f", "\x09", "\x0d", "\x08\x01"],
      answer: inFile("tokenizer.model", vocabularyFiles["tokenizer.model"]!),
    },
    {
      name: "ledgers",
      honest: bytesOf(['{"formatVersion":1,"none":"there was no attempt"}', JSON.stringify(exampleLedger())]),
      words: [...jsonWords, '"wallMs":1'],
      answer: inFile("ledger.json", readLedger),
    },
    {
      name: "provenance.json",
      honest: bytesOf(['{"data":["a",{"name":"b"}],"base":{"name":"gpt2"}}']),
      words: [...jsonWords, '"data"', '"name"'],
      answer: (bytes) => {
        writeFileSync(join(folder, "provenance.json"), bytes);
        const context = { folder, weights: undefined, ledger: "none", budgetMs: 1 };
        return JSON.stringify(provenanceData.decide!(context, { allowed: ["a"] }));
      },
    },
  ];
  return { targets, close: () => rmSync(root, { recursive: true }) };
}

/** Answers a trajectory's check; asynchronous, so it is fuzzed without coverage. */
export async function trajectoryAnswer(path: string, bytes: Uint8Array): Promise<string> {
  writeFileSync(path, bytes);
  return JSON.stringify(await verifyTrajectory(path));
}
