import type { Safetensors, Tensor } from "../safetensors/safetensors.ts";

const packing = new Set(["U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64"]);

export function describeWeights(files: Safetensors[]) {
  const tensors = files.flatMap((file) => file.tensors);
  const count = (some: typeof tensors) => some.reduce((sum, tensor) => sum + tensor.size, 0);
  const weights = tensors.filter((tensor) => !isTable(tensor));
  return {
    /** Values stored in all tensors but tables; tied weights count once, as they are stored once. */
    parameters: count(weights),
    /** Of these, integer values, each of which may pack several parameters. */
    packed: count(weights.filter(({ dtype }) => packing.has(dtype))),
    dtypes: dtypesOf(tensors),
    tensors: tensors.length,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
  };
}

/** Sorted, each once. */
export function dtypesOf(tensors: Tensor[]): string[] {
  return [...new Set(tensors.map(({ dtype }) => dtype))].sort();
}

/**
 * Whether the tensor is a mask or a list of ids that a library stores as integers or booleans next to the weights.
 * Name and shape decide, since the header holds nothing else; no causal model of transformers has a parameter with
 * both.
 */
export function isTable({ dtype, name, shape }: Tensor): boolean {
  if (dtype !== "BOOL" && !packing.has(dtype)) return false;
  const last = name.slice(name.lastIndexOf(".") + 1);
  const [rows, ...others] = shape;
  if (/^(bias|causal_mask)$/.test(last))
    // of attention, positions x positions
    return shape.length === 4 && rows === 1 && others[0] === 1 && others[1] === others[2];
  if (/^(position_ids|token_type_ids)$/.test(last))
    return shape.length === 1 || (shape.length === 2 && rows === 1);
  return /^(masked_bias|num_batches_tracked)$/.test(last) && shape.every((size) => size === 1);
}
