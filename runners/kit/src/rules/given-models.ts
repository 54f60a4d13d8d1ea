// The models that a task gives, as rules compare them with a submission: a few values of every matrix.
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { readWeights } from "../admission/admission-model.ts";
import type { Safetensors, Tensor } from "../safetensors/safetensors.ts";
import { isReadable, valuesAt } from "../safetensors/safetensors-values.ts";
import { isTelling } from "./fingerprint.ts";
import { positions } from "./positions.ts";

/** Values of a matrix at the places that its shape is always looked at. */
export type Sampled = { name: string; shape: string; dtype: string; values: number[] };

/** Weights of the models of these names. Throws where one cannot be read: the pipeline is at fault, nobody else. */
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

/** Every telling matrix; those of a dtype that is not read are counted instead. */
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

/** The largest relative error of rounding to this dtype; of single precision at best, in which people compute. */
export function rounding(dtype: string): number {
  return steps[dtype] ?? 0;
}
