// Fingerprints: a few values of every matrix of a published model. They recognise its weights in a submission
// under other names, in another precision or after some training, and are small enough to store.

import { hash } from "node:crypto";
import type { Fingerprint } from "@mlrb/formats/judged/fingerprint";
import { openedFile } from "../files/opened-file.ts";
import type { Safetensors, Tensor } from "../safetensors/safetensors.ts";
import { isReadable, valuesAt } from "../safetensors/safetensors-values.ts";

/** Smaller matrices are similar by chance, and vectors are mostly norms, near one in every model. */
const sizeMin = 1024;

function isTelling(tensor: Tensor): boolean {
  return tensor.shape.length >= 2 && tensor.size >= sizeMin;
}

/** Samples every telling tensor: values rounded to four digits, without constant tensors. */
export function fingerprint(
  about: Pick<Fingerprint, "name" | "source" | "licence">,
  files: Safetensors[],
): Fingerprint {
  const tensors: Fingerprint["tensors"] = [];
  for (const { path, tensors: all } of files) {
    using file = openedFile(path, "r");
    for (const tensor of all) {
      if (!isTelling(tensor) || !isReadable(tensor.dtype)) continue;
      const exact = valuesAt(file.descriptor, tensor, positions(tensor.shape));
      const values = exact.map((value) => Number(value.toPrecision(4)));
      // masks and other tables of a few values are equal in every model of a family
      if (!values.every(Number.isFinite) || new Set(values).size < 8) continue;
      tensors.push({ name: tensor.name, shape: tensor.shape, values });
    }
  }
  return { formatVersion: 1, ...about, tensors: tensors.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** As text with a line for each tensor, so that a diff of two versions is readable. */
export function fingerprintText({ tensors, ...about }: Fingerprint): string {
  const head = JSON.stringify(about, null, 2).slice(0, -2);
  return `${head},\n  "tensors": [\n${tensors.map((tensor) => `    ${JSON.stringify(tensor)}`).join(",\n")}\n  ]\n}\n`;
}

// The positions are fixed for a shape, so that a stored fingerprint fits every model, and spread by a hash, so that
// no layout hides a copy.
const samples = 64;

const cache = new Map<string, number[]>();

/** Row-major indices of the sampled values of a tensor of this shape. */
function positions(shape: number[]): number[] {
  const key = shape.join("x");
  return cache.getOrInsertComputed(key, () => {
    const size = shape.reduce((product, length) => product * length, 1);
    const digest = (at: number) => hash("sha256", `${key}:${at}`, "buffer");
    return Array.from({ length: samples }, (_, at) => digest(at).readUIntBE(0, 6) % size);
  });
}
