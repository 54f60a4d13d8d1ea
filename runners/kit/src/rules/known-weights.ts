// Reads the fingerprints in the repository. They are ours, so a bad one is a bug.
import { type Fingerprint, fingerprintFile } from "@mlrb/formats/judged/fingerprint";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "../json-file.ts";
import { samples } from "./positions.ts";

/** The fingerprints of these files, in order. Throws for a malformed one. */
export function readKnownWeights(files: string[]): Fingerprint[] {
  return files.map((path) => {
    const fingerprint = mustFollow(fingerprintFile, readJson(path), path);
    const bad = fingerprint.tensors.find((tensor) => tensor.values.length !== samples);
    if (bad)
      throw new Error(`${path}: tensor ${bad.name}: not ${samples} values; make the file again with make.py`);
    return fingerprint;
  });
}
