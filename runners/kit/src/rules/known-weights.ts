// Reads the fingerprints that the repository keeps. They are ours, so a bad one is a mistake to repair.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../json-file.ts";
import type { Fingerprint } from "./fingerprint.ts";
import { samples } from "./positions.ts";

/** All fingerprints of `folder`, sorted by file name; none when there is no such folder. Throws for a malformed one. */
export function readKnownWeights(folder: string): Fingerprint[] {
  return list(folder).map((name) => {
    const path = join(folder, name);
    const fingerprint = readJson<Fingerprint>(path);
    if (fingerprint.formatVersion !== 1)
      throw new Error(`${path}: fingerprint of format ${fingerprint.formatVersion}; this kit reads format 1`);
    const bad = fingerprint.tensors?.find((tensor) => tensor.values?.length !== samples);
    if (!Array.isArray(fingerprint.tensors) || bad)
      throw new Error(
        `${path}: tensor ${bad?.name}: not ${samples} values; make the file again with make.ts`,
      );
    return fingerprint;
  });
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
