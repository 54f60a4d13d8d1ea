// Coverage-guided fuzzing of the readers of attempts, records, results and providers' answers. The readers of
// submissions have their own in runners/kit. MLRB_TEST_SEED repeats a run.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { coverageFuzz } from "@mlrb/kit/admission/testing/coverage-fuzz";
import { attemptFuzzTargets } from "./support/attempts/attempt-fuzz-targets.ts";
import { testSeed } from "./support/test-seed.ts";

console.log(`fuzzing with MLRB_TEST_SEED=${testSeed}`);

const { targets, close } = attemptFuzzTargets();
after(close);

const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;

/** The input with one of its values after another replaced by a value of 50 000 levels, or by such a text. */
function deepened(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes).toString();
  const values = [...text.matchAll(/(?<=:)("[^"\\]*"|\d+|null|\[\]|\{\})/g)];
  const put = (value: string) =>
    values.map(({ 0: old, index }) => text.slice(0, index) + value + text.slice(index + old.length));
  return [
    ...put(deep),
    ...put(JSON.stringify(`{"a":${deep}}`)),
    ...put(JSON.stringify(`{"command":[${deep}]}`)),
  ];
}

for (const { name, honest, answer } of targets)
  test(`${name}: no value of 50 000 levels makes the reader throw`, async () => {
    const inputs = honest
      .map(deepened)
      .flatMap((all) => all.filter((_, at) => at % Math.ceil(all.length / 30) === 0));
    for (const input of inputs) await answer(Buffer.from(input));
  });

for (const { name, honest, words, answer } of targets)
  test(`${name}: no input makes the reader throw, or answer differently twice`, async (t) => {
    const runs = 100;
    const found = await coverageFuzz({
      seed: testSeed,
      runs,
      honest,
      words,
      target: answer,
      watched: "/runners/",
    });
    t.diagnostic(
      `seed ${testSeed}: ${runs} inputs, ${found.kept} kept, ${found.paths} paths through functions`,
    );
    assert.ok(found.kept > honest.length, "no mutant took a new path: the guidance does not work");
  });
