import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { overLimit, readingLimits } from "./reading-limits.ts";

test("a refusal shows what was found, the limit, and what honest models have", () => {
  assert.equal(
    overLimit(readingLimits.words, 5_000_000),
    "5000000 words; at most 1000000 are read (the largest published vocabulary, XLM-V's, has 901 629)",
  );
  assert.match(overLimit(readingLimits.shards), /^more than 1000 shards \(the largest published/);
});

test("Python reads with the same limits", () => {
  const path = join(import.meta.dirname, "../../python/mlrb_kit/reading_limits.py");
  const text = readFileSync(path, "utf8");
  const python = Object.fromEntries(
    [...text.matchAll(/^([A-Z_]+) = ([\d*\s]+)$/gm)].map(([, name, product]) => [
      name,
      product!.split(/(?<!\*)\*(?!\*)/).reduce((value, part) => {
        const [base, power = 1] = part.split("**").map(Number);
        return value * base! ** power;
      }, 1),
    ]),
  );
  const { indexBytes, headerBytes, shards } = readingLimits;
  assert.deepEqual(python, {
    INDEX_BYTES: indexBytes.max,
    HEADER_BYTES: headerBytes.max,
    SHARDS: shards.max,
  });
});
