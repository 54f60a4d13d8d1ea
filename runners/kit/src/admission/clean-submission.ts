// Rebuilds a submission as the folder that scorers load. Settings name only what transformers reads for the
// model's type, and no value of a setting names a file or a repository. Weights and vocabularies keep their bytes.
// docs/security.md describes it; ADR 35 has the reasons.
import { constants, copyFileSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { AdmissionReason } from "@mlrb/formats/judged/admission";
import { writeWhole } from "../json-file.ts";
import { isFile, readBounded, settingsLimits } from "./admission-files.ts";
import { readWeights, type Weights } from "./admission-model.ts";
import { readVocabularies } from "./admission-vocabulary.ts";
import { cleanConfig } from "./clean-config.ts";
import type { CleanFindings } from "./clean-findings.ts";
import {
  cleanAddedTokens,
  cleanGenerationConfig,
  cleanSpecialTokens,
  cleanTokenizerConfig,
} from "./clean-tokenizer.ts";
import { type ExactTable, exactJson, exactText, isExactTable } from "./exact-json.ts";
import type { WeightSizes } from "./setting-bounds.ts";
import { settingsTable } from "./settings-table.ts";

export type CleanSubmission = CleanFindings & {
  /** The rebuilt files of settings, by name. */
  settings: Map<string, ExactTable>;
};

/** `fast`: there is a tokenizer.json. */
type Clean = (table: ExactTable, findings: CleanFindings, fast: boolean) => ExactTable;

/** Files of settings besides config.json. */
const rebuilt = new Map<string, Clean>([
  ["generation_config.json", cleanGenerationConfig],
  ["tokenizer_config.json", cleanTokenizerConfig],
  ["special_tokens_map.json", cleanSpecialTokens],
  ["added_tokens.json", cleanAddedTokens],
]);

/** The prompt that a submission may bring (generation/prompt.py). */
const prompt = "prompt.json";

/** Files of settings, which are rebuilt. */
export const settingsNames = ["config.json", ...rebuilt.keys()];

/** Files that are kept as they are. */
export const keptNames = [...settingsTable.tokenizer.files, prompt];

const shardIndex = "model.safetensors.index.json";

/**
 * Rebuilds the settings; `weights` are those of `folder`. Files that cannot be read are missing from the result;
 * admission has the reason.
 */
export function cleanSettings(folder: string, weights: Weights): CleanSubmission {
  const clean: CleanSubmission = { settings: new Map(), reasons: [], undecided: [], dropped: [] };
  const fast = isFile(join(folder, "tokenizer.json"));
  const config = readTable(join(folder, "config.json"));
  if (config) clean.settings.set("config.json", cleanConfig(config, sizesOf(weights), clean, fast));
  for (const [name, rebuild] of rebuilt) {
    const table = readTable(join(folder, name));
    if (table) clean.settings.set(name, rebuild(table, clean, fast));
  }
  return clean;
}

/**
 * Writes the clean folder of an admitted submission to `to`, an empty folder or none. `place` brings a file of
 * weights there.
 */
export function writeCleanSubmission(
  folder: string,
  to: string,
  weights = readWeights(folder),
  place: (from: string, to: string) => void = copy,
): void {
  mkdirSync(to, { recursive: true });
  for (const [name, table] of cleanSettings(folder, weights).settings)
    writeWhole(join(to, name), `${exactText(table)}\n`, { sync: false });
  const { files } = weights;
  const weightMap: Record<string, string> = {};
  for (const { path, tensors } of files) {
    place(path, join(to, basename(path)));
    for (const { name } of tensors) weightMap[name] = basename(path);
  }
  if (files.length > 0 && basename(files[0]!.path) !== "model.safetensors")
    writeWhole(
      join(to, shardIndex),
      `${JSON.stringify({ metadata: {}, weight_map: weightMap }, undefined, 2)}\n`,
      { sync: false },
    );
  const { names } = readVocabularies(folder);
  if (isFile(join(folder, prompt))) names.push(prompt);
  for (const name of names) copy(join(folder, name), join(to, name));
}

/** Settings that scorers cannot judge, as the operator reads them. */
export function undecidedText(undecided: AdmissionReason[]): string {
  return undecided.map(({ detail }) => detail).join("; ");
}

function copy(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
}

function sizesOf({ files, reasons }: Weights): WeightSizes | undefined {
  if (reasons.length > 0) return undefined;
  const tensors = files.flatMap((file) => file.tensors);
  let dimensionMax = 0;
  for (const { shape } of tensors) for (const length of shape) dimensionMax = Math.max(dimensionMax, length);
  return { tensors: tensors.length, dimensionMax };
}

function readTable(path: string): ExactTable | undefined {
  const bytes = readBounded(path, settingsLimits.bytes);
  const value = typeof bytes === "string" ? undefined : exactJson(bytes, settingsLimits);
  return value !== undefined && isExactTable(value) ? value : undefined;
}
