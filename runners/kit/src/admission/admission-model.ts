// Finds the weights that a loader would load from a model folder, and checks their headers.

import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import type { AdmissionReason as Reason } from "@mlrb/formats/judged/admission";
import { readSafetensors, type Safetensors } from "../safetensors/safetensors.ts";
import { isFile, type JsonFileLimits, readJsonFile } from "./admission-files.ts";
import { clip } from "./clip.ts";
import { overLimit, readingLimits } from "./reading-limits.ts";

const single = "model.safetensors";
const index = "model.safetensors.index.json";
/** Where loaders look for weights, in this order. */
export const weightNames = [single, index];

export type Weights = { files: Safetensors[]; reasons: Reason[] };

/** The files of the model. The single file has priority, as in the loaders; the index counts only without it. */
export function readWeights(folder: string): Weights {
  if (isFile(join(folder, single))) return readShards(folder, [single]);
  if (isFile(join(folder, index))) return readSharded(folder);
  return { files: [], reasons: [{ code: "no-weights", detail: `neither ${single} nor ${index} is there` }] };
}

/** Reads the headers of all files within the limits that they share. */
function readShards(folder: string, names: string[]): Weights {
  const weights: Weights = { files: [], reasons: [] };
  const refuse = (code: string, detail: string) => weights.reasons.push({ code, detail });
  const left = { headerBytes: readingLimits.headersBytes.max, tensors: readingLimits.tensors.max };
  for (const name of names) {
    if (!isFile(join(folder, name))) {
      refuse("missing-shard", `${clip(name)} is named by ${index} and is no file of this folder`);
      continue;
    }
    const read = readSafetensors(join(folder, name), left);
    if (read.kind === "malformed") {
      refuse("safetensors", `${clip(name)}: ${read.reason}`);
      continue;
    }
    weights.files.push(read.file);
    left.headerBytes -= read.headerBytes;
    left.tensors -= read.file.tensors.length;
  }
  if (weights.reasons.length === 0 && weights.files.every((file) => file.tensors.length === 0))
    refuse("no-weights", "the weights hold no tensor");
  return weights;
}

const indexLimits: JsonFileLimits = {
  bytes: readingLimits.indexBytes,
  values: readingLimits.settingsValues,
  counted: { weight_map: readingLimits.tensors },
};

function readSharded(folder: string): Weights {
  const refuse = (detail: string): Weights => ({ files: [], reasons: [{ code: "shard-index", detail }] });
  const read = readJsonFile(join(folder, index), indexLimits);
  if (read.kind === "malformed") return refuse(`${index}: ${read.reason}`);
  const map = isTable(read.value) ? read.value.weight_map : undefined;
  if (!isTable(map)) return refuse(`${index}: no weight_map`);
  const tensors = Object.keys(map);
  if (tensors.length === 0) return refuse(`${index}: no weight_map`);
  const names = new Set<string>();
  for (const tensor of tensors) {
    const name = map[tensor];
    if (typeof name !== "string" || !isPlainName(name))
      return refuse(`${index}: tensor ${clip(tensor)} is not in a .safetensors file of this folder`);
    names.add(name);
  }
  const { shards } = readingLimits;
  if (names.size > shards.max) return refuse(`${index}: ${overLimit(shards, names.size)}`);
  const sorted = [...names].sort();
  const weights = readShards(folder, sorted);
  if (weights.reasons.length > 0) return weights;
  const problem = notTheShards(map, sorted, weights.files);
  return problem === undefined ? weights : refuse(problem);
}

/**
 * Names of embeddings and output layers. Where they are tied, an index may name a weight that the shards hold
 * under another name. Loaders say which weights they lack.
 */
const mayBeTied = /(head|embed|wte|shared|output|decoder|predictions|proj|lm_loss)[\w.]*\.(weight|bias)$/;

/** How the shards differ from the index: loaders differ in whether they load a tensor from a second shard. */
function notTheShards(
  map: Record<string, unknown>,
  names: string[],
  files: Safetensors[],
): string | undefined {
  const found = new Set<string>();
  for (const [at, { tensors }] of files.entries()) {
    for (const { name } of tensors) {
      found.add(name);
      if (!Object.hasOwn(map, name) || map[name] !== names[at])
        return `${clip(names[at]!)} holds tensor ${clip(name)}, which ${index} does not say`;
    }
  }
  // the pattern takes a time of the square of the name
  const { max } = readingLimits.tensorNameBytes;
  const lost = Object.keys(map).find(
    (name) => !found.has(name) && (name.length > max || !mayBeTied.test(name)),
  );
  return lost === undefined ? undefined : `tensor ${clip(lost)} is in none of the shards`;
}

function isPlainName(name: string): boolean {
  return name.endsWith(".safetensors") && !/[/\\\0]/.test(name);
}
