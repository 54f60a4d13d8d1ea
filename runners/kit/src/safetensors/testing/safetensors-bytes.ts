// Builds small safetensors files for tests and fixtures, good ones and, by `header`, bad ones.
export type NewTensor = { dtype: string; shape: number[]; bytes: Uint8Array };

/** A file of these tensors in the order given; `change` may spoil the header before it is written. */
export function safetensorsBytes(
  tensors: Record<string, NewTensor>,
  change: (header: Record<string, unknown>) => unknown = (header) => header,
): Buffer {
  const header: Record<string, unknown> = {};
  let at = 0;
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [at, at + bytes.length] };
    at += bytes.length;
  }
  return fileOf(
    JSON.stringify(change(header)),
    Buffer.concat(Object.values(tensors).map(({ bytes }) => bytes)),
  );
}

/** A file with exactly this header text. */
export function fileOf(header: string, data: Uint8Array): Buffer {
  const text = Buffer.from(header);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}

export function float32(shape: number[], values: ArrayLike<number>): NewTensor {
  return { dtype: "F32", shape, bytes: new Uint8Array(Float32Array.from(values).buffer) };
}
