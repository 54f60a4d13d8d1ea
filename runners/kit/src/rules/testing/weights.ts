// Small models of known values, as files.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { readWeights } from "../../admission/admission-model.ts";
import { type NewTensor, safetensorsBytes } from "../../safetensors/testing/safetensors-bytes.ts";

/** A temporary folder of the test file that imports this. */
export const root: string = mkdtempSync(join(tmpdir(), "mlrb-rules-"));
after(() => rmSync(root, { recursive: true }));

/** Normal-looking values of a fixed seed. */
export function values(seed: number, count: number): number[] {
  let state = seed >>> 0;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: count }, () => uniform() + uniform() + uniform() - 1.5);
}

export function half(shape: number[], of: number[], dtype: "F16" | "BF16"): NewTensor {
  const bits = of.map((value) => {
    if (dtype === "F16") return new Uint16Array(new Float16Array([value]).buffer)[0]!;
    const whole = new Uint32Array(new Float32Array([value]).buffer)[0]!;
    return (whole + 0x7fff + ((whole >>> 16) & 1)) >>> 16; // to the nearest, ties to even
  });
  return { dtype, shape, bytes: new Uint8Array(Uint16Array.from(bits).buffer) };
}

export function weights(tensors: Record<string, NewTensor>, folder: string = mkdtempSync(join(root, "w-"))) {
  writeFileSync(join(folder, "model.safetensors"), safetensorsBytes(tensors));
  const { files, reasons } = readWeights(folder);
  assert.deepEqual(reasons, []);
  return files;
}
