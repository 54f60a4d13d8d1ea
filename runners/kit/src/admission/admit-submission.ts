// Admission: whether a submission can be safely loaded. It judges neither the model nor the task's rules, so that a changed
// rule rescores nothing. The folder is hostile: nothing in it is run, followed or read whole.

import { statSync } from "node:fs";
import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import type { Admission, AdmissionReason as Reason } from "@mlrb/formats/judged/admission";
import { codeFiles, codeSettings } from "./admission-code.ts";
import { readJsonFile, type SubmittedFile, submittedFiles } from "./admission-files.ts";
import { clip } from "./admission-json.ts";
import { readWeights } from "./admission-model.ts";
import { type CleanSubmission, cleanSettings } from "./clean-submission.ts";

const reasonsPerCode = 20;
const droppedMax = 100;
/** Settings are a few kilobytes; vocabularies of a quarter million tokens are about 35 MB. */
const settingsMax = 4 << 20;
const tokenizerMax = 128 << 20;

/** Checks a submitted folder and returns every reason against loading it, not only the first. */
export function admit(folder: string): Admission {
  const reasons: Reason[] = [];
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return answer([{ code: "empty", detail: "no submission: there is no folder" }]);
  const { files, odd, tooMany } = submittedFiles(folder);
  if (files.length === 0 && odd.length === 0)
    return answer([{ code: "empty", detail: "no submission: the folder is empty" }]);
  if (tooMany) reasons.push({ code: "too-many-files", detail: "more than 100000 files and folders" });
  for (const { path, why } of odd) reasons.push({ code: "odd-file", detail: `${clip(path)}: ${why}` });

  reasons.push(...readSettings(folder, files));
  reasons.push(...readTokenizer(files));
  reasons.push(...readWeights(folder).reasons);
  reasons.push(...codeFiles(folder, files));
  const { reasons: ofSettings, undecided, dropped } = cleanSettings(folder);
  reasons.push(...ofSettings);
  return withSettings(answer(reasons), { undecided, dropped });
}

/** Adds what the clean folder leaves out, and the settings that keep an admitted submission from being scored. */
function withSettings(
  admission: Admission,
  { undecided, dropped }: Pick<CleanSubmission, "undecided" | "dropped">,
): Admission {
  if (admission.admitted && undecided.length > 0) admission.undecided = undecided.slice(0, reasonsPerCode);
  if (dropped.length > 0)
    admission.dropped = dropped
      .slice(0, droppedMax)
      .map(({ file, key, why }) => ({ file, key: key.slice(0, 80), why }));
  return admission;
}

function answer(reasons: Reason[]): Admission {
  const bounded: Reason[] = [];
  const counts = new Map<string, number>();
  for (const reason of reasons) {
    const count = (counts.get(reason.code) ?? 0) + 1;
    counts.set(reason.code, count);
    if (count <= reasonsPerCode) bounded.push(reason);
  }
  for (const [code, count] of counts)
    if (count > reasonsPerCode) bounded.push({ code, detail: `and ${count - reasonsPerCode} more` });
  return { formatVersion: 1, admitted: bounded.length === 0, reasons: bounded };
}

/** Files that loaders read as objects, each with the maximum size that is read. */
const loaded = new Map([
  ["config.json", settingsMax],
  ["generation_config.json", settingsMax],
  ["tokenizer_config.json", settingsMax],
  ["special_tokens_map.json", settingsMax],
  ["added_tokens.json", settingsMax],
  ["preprocessor_config.json", settingsMax],
  ["processor_config.json", settingsMax],
  ["tokenizer.json", tokenizerMax],
  ["vocab.json", tokenizerMax],
]);

/** config.json must exist; files that loaders read must be readable and free of redirections. */
function readSettings(folder: string, files: SubmittedFile[]): Reason[] {
  const reasons: Reason[] = [];
  const names = new Set(files.map((file) => file.path));
  if (!names.has("config.json")) reasons.push({ code: "no-config", detail: "config.json is not there" });
  if (names.has("adapter_config.json"))
    reasons.push({
      code: "adapter",
      detail: "adapter_config.json names a base elsewhere; merge the adapter first",
    });
  for (const [name, bytesMax] of loaded) {
    if (!names.has(name)) continue;
    const read = readJsonFile(join(folder, name), bytesMax);
    const code = name === "config.json" ? "config" : "settings";
    if (read.kind === "malformed") reasons.push({ code, detail: `${name}: ${read.reason}` });
    else if (!isTable(read.value)) reasons.push({ code, detail: `${name}: not an object` });
    // a vocabulary may have a word "auto_map"
    else if (bytesMax === settingsMax) reasons.push(...codeSettings(name, read.value));
  }
  return reasons;
}

const tokenizers = [
  ["tokenizer.json"],
  ["tokenizer.model"],
  ["spiece.model"],
  ["vocab.txt"],
  ["vocab.json", "merges.txt"],
];

function readTokenizer(files: SubmittedFile[]): Reason[] {
  const sizes = new Map(files.map((file) => [file.path, file.bytes]));
  const reasons: Reason[] = [];
  if (!tokenizers.some((names) => names.every((name) => sizes.has(name))))
    reasons.push({
      code: "no-tokenizer",
      detail: `none of these is there: ${tokenizers.map((names) => names.join(" with ")).join(", ")}`,
    });
  for (const name of ["tokenizer.model", "spiece.model", "vocab.txt", "merges.txt"]) {
    const bytes = sizes.get(name);
    if (bytes === 0 || (bytes ?? 0) > tokenizerMax)
      reasons.push({ code: "tokenizer", detail: `${name}: ${bytes} bytes; 1 to ${tokenizerMax} are read` });
  }
  return reasons;
}
