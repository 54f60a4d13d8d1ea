// Finds the weights that a loader would load from a model folder, and checks their headers.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import type { AdmissionReason as Reason } from "@mlrb/formats/judged/admission";
import { readSafetensors, type Safetensors } from "../safetensors/safetensors.ts";
import { readJsonFile } from "./admission-files.ts";
import { clip } from "./admission-json.ts";

const single = "model.safetensors";
const index = "model.safetensors.index.json";

export type Weights = { files: Safetensors[]; reasons: Reason[] };

/** The files of the model. The single file has priority, as in the loaders; the index counts only without it. */
export function readWeights(folder: string): Weights {
  if (isFile(join(folder, single))) return readShards(folder, [single]);
  if (isFile(join(folder, index))) return readSharded(folder);
  return { files: [], reasons: [{ code: "no-weights", detail: `neither ${single} nor ${index} is there` }] };
}

function readShards(folder: string, names: string[]): Weights {
  const weights: Weights = { files: [], reasons: [] };
  const refuse = (code: string, detail: string) => weights.reasons.push({ code, detail });
  for (const name of names) {
    if (!isFile(join(folder, name))) {
      refuse("missing-shard", `${clip(name)} is named by ${index} and is not there`);
      continue;
    }
    const read = readSafetensors(join(folder, name));
    if (read.kind === "ok") weights.files.push(read.file);
    else refuse("safetensors", `${clip(name)}: ${read.reason}`);
  }
  if (weights.reasons.length === 0 && weights.files.every((file) => file.tensors.length === 0))
    refuse("no-weights", "the weights hold no tensor");
  return weights;
}

function readSharded(folder: string): Weights {
  const refuse = (detail: string): Weights => ({ files: [], reasons: [{ code: "shard-index", detail }] });
  const read = readJsonFile(join(folder, index), 64 << 20);
  if (read.kind === "malformed") return refuse(`${index}: ${read.reason}`);
  const map = isTable(read.value) ? read.value.weight_map : undefined;
  if (!isTable(map) || Object.keys(map).length === 0) return refuse(`${index}: no weight_map`);
  const names = new Set<string>();
  for (const [tensor, name] of Object.entries(map)) {
    if (typeof name !== "string" || !isPlainName(name))
      return refuse(`${index}: tensor ${clip(tensor)} is not in a .safetensors file of this folder`);
    names.add(name);
  }
  const weights = readShards(folder, [...names].sort());
  if (weights.reasons.length > 0) return weights;

  const found = new Set<string>();
  for (const [at, name] of [...names].sort().entries()) {
    for (const tensor of weights.files[at]!.tensors) {
      found.add(tensor.name);
      // loaders differ in whether they load a tensor from a second shard
      if (!Object.hasOwn(map, tensor.name) || map[tensor.name] !== name)
        return refuse(`${clip(name)} holds tensor ${clip(tensor.name)}, which ${index} does not say`);
    }
  }
  const lost = Object.keys(map).find((tensor) => !found.has(tensor));
  if (lost !== undefined) return refuse(`tensor ${clip(lost)} is in none of the shards`);
  return weights;
}

function isPlainName(name: string): boolean {
  return name.endsWith(".safetensors") && !/[/\\\0]/.test(name);
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
