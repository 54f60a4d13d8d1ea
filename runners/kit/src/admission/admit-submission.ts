// Admission: whether a submission can be safely loaded. It judges neither the model nor the task's rules, so that a changed
// rule rescores nothing. The folder is hostile: nothing in it is run, followed or read whole.

import { statSync } from "node:fs";
import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import type { Admission, AdmissionReason as Reason } from "@mlrb/formats/judged/admission";
import { codeFiles, codeSettings } from "./admission-code.ts";
import { readJsonFile, type SubmittedFile, settingsLimits, submittedFiles } from "./admission-files.ts";
import { readWeights } from "./admission-model.ts";
import { vocabularyFiles } from "./admission-vocabulary.ts";
import { type CleanSubmission, cleanSettings } from "./clean-submission.ts";
import { clip } from "./clip.ts";
import { overLimit, readingLimits } from "./reading-limits.ts";

const droppedMax = 100;

/** Checks a submitted folder and returns every reason against loading it, not only the first. */
export function admit(folder: string): Admission {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return answer([{ code: "empty", detail: "no submission: there is no folder" }]);
  const { files, odd, tooMany } = submittedFiles(folder);
  if (files.length === 0 && odd.length === 0)
    return answer([{ code: "empty", detail: "no submission: the folder is empty" }]);
  const weights = readWeights(folder);
  const { reasons, undecided, dropped } = cleanSettings(folder, weights);
  // lists of strangers are joined by `flat`: as arguments of `push` they would overflow the stack
  const admission = answer(
    [
      tooMany ? [{ code: "too-many-files", detail: overLimit(readingLimits.entries) }] : [],
      odd.map(({ path, why }) => ({ code: "odd-file", detail: `${clip(path)}: ${why}` })),
      readSettings(folder, files),
      readTokenizer(folder, files),
      weights.reasons,
      codeFiles(folder, files),
      reasons,
    ].flat(),
  );
  return withSettings(admission, { undecided, dropped });
}

/** Adds what the clean folder leaves out, and the settings that keep an admitted submission from being scored. */
function withSettings(
  admission: Admission,
  { undecided, dropped }: Pick<CleanSubmission, "undecided" | "dropped">,
): Admission {
  if (admission.admitted && undecided.length > 0)
    admission.undecided = undecided.slice(0, readingLimits.reasonsPerCode.max);
  if (dropped.length > 0)
    admission.dropped = dropped
      .slice(0, droppedMax)
      .map(({ file, key, why }) => ({ file, key: key.slice(0, 80), why }));
  return admission;
}

function answer(reasons: Reason[]): Admission {
  const bounded: Reason[] = [];
  const counts = new Map<string, number>();
  const most = readingLimits.reasonsPerCode.max;
  for (const { code, detail } of reasons) {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    if (count <= most) bounded.push({ code, detail: detail.slice(0, readingLimits.reasonChars.max) });
  }
  for (const [code, count] of counts)
    if (count > most) bounded.push({ code, detail: `and ${count - most} more` });
  return { formatVersion: 1, admitted: bounded.length === 0, reasons: bounded };
}

/** Files that loaders read as objects. */
const settings = [
  "config.json",
  "generation_config.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "added_tokens.json",
  "preprocessor_config.json",
  "processor_config.json",
];

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
  for (const name of settings) {
    if (!names.has(name)) continue;
    const read = readJsonFile(join(folder, name), settingsLimits);
    const code = name === "config.json" ? "config" : "settings";
    if (read.kind === "malformed") reasons.push({ code, detail: `${name}: ${read.reason}` });
    else if (!isTable(read.value)) reasons.push({ code, detail: `${name}: not an object` });
    else for (const reason of codeSettings(name, read.value)) reasons.push(reason);
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

function readTokenizer(folder: string, files: SubmittedFile[]): Reason[] {
  const names = new Set(files.map((file) => file.path));
  const reasons: Reason[] = [];
  if (!tokenizers.some((needed) => needed.every((name) => names.has(name))))
    reasons.push({
      code: "no-tokenizer",
      detail: `none of these is there: ${tokenizers.map((needed) => needed.join(" with ")).join(", ")}`,
    });
  for (const [name, problemOf] of Object.entries(vocabularyFiles)) {
    const problem = names.has(name) ? problemOf(join(folder, name)) : undefined;
    const code = name.endsWith(".json") ? "settings" : "tokenizer";
    if (problem !== undefined) reasons.push({ code, detail: `${name}: ${problem}` });
  }
  return reasons;
}
