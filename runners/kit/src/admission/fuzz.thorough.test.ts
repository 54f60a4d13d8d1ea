// Coverage-guided fuzzing of every reader of bytes of strangers. MLRB_TEST_SEED repeats a run.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { testSeed } from "../../../../tests/support/test-seed.ts";
import { coverageFuzz } from "./testing/coverage-fuzz.ts";
import { fuzzTargets } from "./testing/fuzz-targets.ts";

console.log(`fuzzing with MLRB_TEST_SEED=${testSeed}`);

const { targets, close } = fuzzTargets();
after(close);

for (const { name, honest, words, answer } of targets) {
  test(`${name}: no input makes the reader throw, or answer differently twice`, async (t) => {
    const runs = 700;
    const { kept, paths } = await coverageFuzz({
      seed: testSeed,
      runs,
      honest,
      words,
      target: answer,
      watched: "/kit/src/",
    });
    t.diagnostic(`seed ${testSeed}: ${runs} inputs, ${kept} kept, ${paths} paths through functions`);
    assert.ok(kept > honest.length, "no mutant took a new path: the guidance does not work");
  });
}

test("an error behind four conditions is found, and its message holds the input that repeats it", async () => {
  const guarded = (bytes: Uint8Array): string => {
    if (bytes[0] !== 0x7b) return "a";
    if (bytes[1] !== 0x22) return "b";
    if (bytes[2] !== 0x78) return "c";
    if (bytes[3] !== 0x22) return "d";
    throw new Error("planted");
  };
  const options = { seed: 1, runs: 3000, honest: [Buffer.from("....")], words: ["{", '"', "x"] };
  const { url: watched } = import.meta;
  await assert.rejects(coverageFuzz({ ...options, target: guarded, watched }), /planted[\s\S]*base64: eyJ4I/);
});
