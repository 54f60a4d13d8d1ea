// The positions at which a tensor is sampled: fixed for a shape, so that a stored fingerprint fits every model,
// and spread by a hash, so that no layout hides a copy.
import { createHash } from "node:crypto";

const samples = 64;

const cache = new Map<string, number[]>();

/** Row-major indices of the sampled values of a tensor of this shape. */
export function positions(shape: number[]): number[] {
  const key = shape.join("x");
  let found = cache.get(key);
  if (!found) {
    const size = shape.reduce((product, length) => product * length, 1);
    found = Array.from(
      { length: samples },
      (_, at) => createHash("sha256").update(`${key}:${at}`).digest().readUIntBE(0, 6) % size,
    );
    cache.set(key, found);
  }
  return found;
}
