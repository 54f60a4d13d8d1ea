// Reads the fingerprints that the repository keeps. They are ours, so a bad one is a mistake to repair.
import { readJson } from "../json-file.ts";
import type { Fingerprint } from "./fingerprint.ts";
import { samples } from "./positions.ts";

/** The fingerprints in these files, in their order. Throws for a malformed one. */
export function readKnownWeights(files: string[]): Fingerprint[] {
  return files.map((path) => {
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
