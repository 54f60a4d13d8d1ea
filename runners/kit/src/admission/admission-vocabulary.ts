// Checks the sizes of a tokenizer's files without building anything from them: a vocabulary of millions of words
// takes minutes and gigabytes in the loaders.

import { fstatSync, readSync } from "node:fs";
import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import type { IgnoredEntry, AdmissionReason as Reason } from "@mlrb/formats/judged/admission";
import { openedFile } from "../files/opened-file.ts";
import { isFile, readBounded, readJsonFile, settingsLimits } from "./admission-files.ts";
import { scanJson } from "./json-scan.ts";
import { overLimit, type ReadingLimit, readingLimits } from "./reading-limits.ts";
import { own, settingsTable } from "./settings-table.ts";

const { words, merges, tokenizerBytes, pieceModelBytes, tokenizerValues } = readingLimits;

/** Files that hold a vocabulary, each with its check, which returns what is wrong. */
export const vocabularyFiles: Record<string, (path: string) => string | undefined> = {
  "tokenizer.json": (path) =>
    checkJson(path, { "model.vocab": words, "model.merges": merges, added_tokens: words }),
  "vocab.json": (path) => checkJson(path, { "": words }),
  "vocab.txt": (path) => checkLines(path, words),
  "merges.txt": (path) => checkLines(path, merges),
  "tokenizer.model": checkPieces,
  "spiece.model": checkPieces,
  "sentencepiece.bpe.model": checkPieces,
};

const fast = "tokenizer.json";

const tokenizers = [
  [fast],
  ["tokenizer.model"],
  ["spiece.model"],
  ["vocab.txt"],
  ["vocab.json", "merges.txt"],
];

export type Vocabularies = { names: string[]; reasons: Reason[]; ignored: IgnoredEntry[] };

/**
 * The vocabularies of `folder` that can be kept, and what is wrong with the others. Loaders read tokenizer.json
 * and then no other one, so a problem of another one next to it is no reason against the submission.
 */
export function readVocabularies(folder: string): Vocabularies {
  const has = (name: string) => isFile(join(folder, name));
  const found: Vocabularies = { names: [], reasons: [], ignored: [] };
  if (!tokenizers.some((needed) => needed.every(has)) && !needsNone(folder))
    found.reasons.push({
      code: "no-tokenizer",
      detail: `none of these is there: ${tokenizers.map((needed) => needed.join(" with ")).join(", ")}; save the fast tokenizer with save_pretrained, which writes ${fast}`,
    });
  for (const name of settingsTable.tokenizer.files.filter(has)) {
    const problem = own(vocabularyFiles, name)?.(join(folder, name));
    if (problem === undefined) found.names.push(name);
    else if (name !== fast && has(fast))
      found.ignored.push({ path: name, why: `${problem}; ${fast} is read instead` });
    else {
      const code = name.endsWith(".json") ? "settings" : "tokenizer";
      found.reasons.push({ code, detail: `${name}: ${problem}` });
    }
  }
  return found;
}

/** Whether the tokenizer has its vocabulary in its code. */
function needsNone(folder: string): boolean {
  const read = readJsonFile(join(folder, "tokenizer_config.json"), settingsLimits);
  const name = read.kind === "ok" && isTable(read.value) ? read.value.tokenizer_class : undefined;
  return settingsTable.tokenizer.withoutFiles.some((one) => one === name);
}

function checkJson(path: string, counted: Record<string, ReadingLimit>): string | undefined {
  const bytes = readBounded(path, tokenizerBytes);
  if (typeof bytes === "string") return bytes;
  const scan = scanJson(bytes, { values: tokenizerValues, counted });
  bytes.buffer.transfer(0); // frees the memory at once, before the next file is read
  if (scan.kind === "malformed") return scan.reason;
  if (scan.root !== "object") return "not an object";
  const all = (scan.counts["model.vocab"] ?? 0) + (scan.counts.added_tokens ?? 0);
  return all > words.max ? overLimit(words, all) : undefined;
}

function checkLines(path: string, limit: ReadingLimit): string | undefined {
  const piece = Buffer.alloc(1 << 20);
  const counter = new LineCounter();
  using file = openedFile(path, "r");
  const { size } = fstatSync(file.descriptor);
  if (size === 0) return "empty";
  if (size > tokenizerBytes.max) return overLimit(tokenizerBytes); // reads nothing of it
  for (let read = -1; read !== 0; ) {
    read = readSync(file.descriptor, piece, 0, piece.length, null);
    counter.take(piece.subarray(0, read));
    if (counter.lines > limit.max) return overLimit(limit);
  }
  return undefined;
}

/** Counts the ends of lines as Python does: a line feed, a carriage return, or both. */
class LineCounter {
  lines = 0;
  #afterReturn = false;

  take(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte === 13 || (byte === 10 && !this.#afterReturn)) this.lines++;
      this.#afterReturn = byte === 13;
    }
  }
}

/** A sentencepiece model is one protobuf message. Other tokenizer.model files (tiktoken) have a word on each line. */
function checkPieces(path: string): string | undefined {
  const bytes = readBounded(path, pieceModelBytes);
  if (typeof bytes === "string") return bytes;
  if (bytes.length === 0) return "empty";
  const counter = new LineCounter();
  const pieces = countPieces(bytes);
  if (pieces === undefined) counter.take(bytes);
  const count = pieces ?? counter.lines;
  return count > words.max ? overLimit(words, count) : undefined;
}

/** The entries of field 1 (`pieces`) of a protobuf message; undefined if `bytes` are none. */
function countPieces(bytes: Uint8Array): number | undefined {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 10; shift++) {
      const byte = bytes[at++];
      if (byte === undefined) return Number.NaN;
      value += (byte & 0x7f) * 2 ** (7 * shift);
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  };
  let pieces = 0;
  while (at < bytes.length) {
    const tag = varint();
    if (tag === 10) pieces++;
    const kind = tag % 8;
    if (kind === 0) at += Number.isNaN(varint()) ? Number.NaN : 0;
    else if (kind === 1) at += 8;
    else if (kind === 2) at += varint();
    else if (kind === 5) at += 4;
    else return undefined;
    if (!(at <= bytes.length)) return undefined;
  }
  return pieces;
}
