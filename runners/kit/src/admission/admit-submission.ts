// Admission: whether a submission can be safely loaded. It judges neither the model nor the task's rules, so that
// a changed rule rescores nothing. The folder is hostile: nothing in it is run, followed or read whole. Only files
// that loaders open are opened; all others are listed (ADR 35).

import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import type { Admission, IgnoredEntry, AdmissionReason as Reason } from "@mlrb/formats/judged/admission";
import { isFile, readJsonFile, settingsLimits } from "./admission-files.ts";
import { readWeights, type Weights, weightNames } from "./admission-model.ts";
import { readVocabularies } from "./admission-vocabulary.ts";
import { cleanSettings, keptNames, settingsNames } from "./clean-submission.ts";
import { otherEntries, weightsElsewhere } from "./other-entries.ts";
import { readingLimits } from "./reading-limits.ts";

const listedMax = 100;
/** Loaders with PEFT take the weights of the base that it names, from elsewhere. */
const adapterConfig = "adapter_config.json";
/** Read by rules, not by loaders. */
const provenance = "provenance.json";

/** Checks a submitted folder and returns every reason against loading it, not only the first. */
export function admit(folder: string): Admission {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return answer([{ code: "empty", detail: "no submission: there is no folder" }]);
  const weights = readWeights(folder);
  const opened = new Set([...weightNames, ...settingsNames, ...keptNames, adapterConfig, provenance]);
  for (const { path } of weights.files) opened.add(basename(path));
  const { ignored, odd, empty } = otherEntries(folder, opened);
  const advice = weightsElsewhere(ignored);
  if (empty) return answer([{ code: "empty", detail: `no submission: the folder holds no file${advice}` }]);
  const settings = readSettings(folder, weights);
  const vocabularies = readVocabularies(folder);
  const clean = cleanSettings(folder, weights);
  // lists of strangers are joined by `flat`: as arguments of `push` they would overflow the stack
  const admission = answer(
    [
      odd,
      settings.reasons,
      vocabularies.reasons,
      weights.reasons.map((reason) =>
        reason.code === "no-weights" ? { ...reason, detail: reason.detail + advice } : reason,
      ),
      clean.reasons,
    ].flat(),
  );
  const { undecided, dropped } = clean;
  if (admission.admitted && undecided.length > 0)
    admission.undecided = undecided.slice(0, readingLimits.reasonsPerCode.max);
  if (dropped.length > 0)
    admission.dropped = dropped
      .slice(0, listedMax)
      .map(({ file, key, why }) => ({ file, key: key.slice(0, 80), why }));
  const left = [settings.ignored, vocabularies.ignored, ignored].flat();
  if (left.length > 0)
    admission.ignored = {
      count: left.length,
      first: left.slice(0, listedMax).map(({ path, why }) => ({ path: path.slice(0, 200), why })),
    };
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

/** Files of settings must be objects within the limits; config.json must be there. */
function readSettings(folder: string, weights: Weights): { reasons: Reason[]; ignored: IgnoredEntry[] } {
  const reasons: Reason[] = [];
  const ignored: IgnoredEntry[] = [];
  if (!isFile(join(folder, "config.json")))
    reasons.push({ code: "no-config", detail: "config.json is not there" });
  if (isFile(join(folder, adapterConfig))) {
    if (weights.files.length > 0)
      ignored.push({ path: adapterConfig, why: "the weights of the whole model are read instead" });
    else
      reasons.push({
        code: "adapter",
        detail: `${adapterConfig} names a base elsewhere; save the merged model (merge_and_unload)`,
      });
  }
  for (const name of settingsNames) {
    if (!isFile(join(folder, name))) continue;
    const read = readJsonFile(join(folder, name), settingsLimits);
    const problem =
      read.kind === "malformed" ? read.reason : isTable(read.value) ? undefined : "not an object";
    if (problem === undefined) continue;
    // loaders go on without it, and scorers take nothing from it but the ids of special tokens
    if (name === "generation_config.json") ignored.push({ path: name, why: problem });
    else
      reasons.push({
        code: name === "config.json" ? "config" : "settings",
        detail: `${name}: ${problem}`,
      });
  }
  return { reasons, ignored };
}
