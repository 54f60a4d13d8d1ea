import type { Safetensors } from "../safetensors/safetensors.ts";

export type WeightFacts = {
  /** Values stored in all tensors; tied weights count once, as they are stored once. */
  parameters: number;
  /** Of these, integer values, each of which may pack several parameters. */
  packed: number;
  /** Sorted. */
  dtypes: string[];
  tensors: number;
  bytes: number;
};

const packing = new Set(["U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64"]);
// position ids and masks are integers without packed parameters
const tableNames = /(^|\.)(position_ids|token_type_ids|masked_bias|bias|num_batches_tracked)$/;

export function describeWeights(files: Safetensors[]): WeightFacts {
  const tensors = files.flatMap((file) => file.tensors);
  const count = (some: typeof tensors) => some.reduce((sum, tensor) => sum + tensor.size, 0);
  return {
    parameters: count(tensors),
    packed: count(tensors.filter(({ dtype, name }) => packing.has(dtype) && !tableNames.test(name))),
    dtypes: [...new Set(tensors.map((tensor) => tensor.dtype))].sort(),
    tensors: tensors.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
  };
}
