// Reads single values of a tensor in place: a model of many gigabytes is sampled in a few thousand small reads.
import type { Tensor } from "./safetensors.ts";
import { readFully } from "./safetensors.ts";

const decoders: Record<string, { bytes: number; decode(view: DataView): number }> = {
  F64: { bytes: 8, decode: (view) => view.getFloat64(0, true) },
  F32: { bytes: 4, decode: (view) => view.getFloat32(0, true) },
  F16: { bytes: 2, decode: (view) => view.getFloat16(0, true) },
  BF16: { bytes: 2, decode: (view) => brain(view.getUint16(0, true)) },
};

/** Whether values of this dtype can be read. */
export function isReadable(dtype: string): boolean {
  return Object.hasOwn(decoders, dtype);
}

/** The values at `positions` (indices in row-major order, each below `tensor.size`) of an open file. */
export function valuesAt(file: number, tensor: Tensor, positions: number[]): number[] {
  const { bytes, decode } = decoders[tensor.dtype]!;
  const buffer = new Uint8Array(bytes);
  const view = new DataView(buffer.buffer);
  return positions.map((position) =>
    readFully(file, buffer, tensor.begin + position * bytes) ? decode(view) : Number.NaN,
  );
}

function brain(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}
