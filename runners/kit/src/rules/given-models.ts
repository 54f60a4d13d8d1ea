// Samples the models that a task gives, for comparison with a submission: a few values of every matrix.
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { readWeights } from "../admission/admission-model.ts";
import type { Safetensors, Tensor } from "../safetensors/safetensors.ts";
import { isReadable, valuesAt } from "../safetensors/safetensors-values.ts";
import { isTelling } from "./fingerprint.ts";
import { positions } from "./positions.ts";

/** Values of a matrix at the fixed positions of its shape. */
export type Sampled = { name: string; shape: string; dtype: string; values: number[] };

/** The weights of the named models. Throws if one cannot be read: then the pipeline is at fault. */
export function givenModels(folder: string | undefined, names: string[]): Record<string, Safetensors[]> {
  return Object.fromEntries(
    names.map((name) => {
      const { files, reasons } = folder ? readWeights(join(folder, name)) : { files: [], reasons: [] };
      if (files.length === 0 || reasons.length > 0)
        throw new Error(
          `the task gives no model "${name}" that can be read: ${reasons[0]?.detail ?? "none"}`,
        );
      return [name, files];
    }),
  );
}

/** Samples every telling matrix; those with an unreadable dtype are only counted. */
export function sampledMatrices(files: Safetensors[]): { matrices: Sampled[]; unreadable: number } {
  const matrices: Sampled[] = [];
  let unreadable = 0;
  for (const { path, tensors } of files) {
    const file = openSync(path, "r");
    try {
      for (const tensor of tensors.filter(isTelling)) {
        if (isReadable(tensor.dtype)) matrices.push(sampled(file, tensor));
        else unreadable++;
      }
    } finally {
      closeSync(file);
    }
  }
  return { matrices, unreadable };
}

function sampled(file: number, tensor: Tensor): Sampled {
  const { name, shape, dtype } = tensor;
  return { name, shape: shape.join("x"), dtype, values: valuesAt(file, tensor, positions(shape)) };
}

const steps: Record<string, number> = { F64: 2 ** -24, F32: 2 ** -24, F16: 2 ** -11, BF16: 2 ** -8 };

/** The largest relative rounding error of this dtype, at least that of single precision, in which models are computed. */
export function rounding(dtype: string): number {
  return steps[dtype] ?? 0;
}
