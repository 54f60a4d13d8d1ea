import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { comparedParts } from "./compared-parts.ts";

function attemptOf(seed: number, env: Record<string, string> = {}): KeyParts {
  return {
    ...{ keyFormat: 1, run: { kind: "script", file: "" }, code: {}, files: {}, params: {}, inputs: {} },
    ...{ axes: { task: "letters", seed }, outputs: {}, env, budget: {}, environment: null, host: null },
    agentEnv: { MLRB_TASK: "letters", MLRB_SEED: String(seed), TZ: "UTC" },
  };
}

test("attempts of two seeds have equal parts", () => {
  assert.deepEqual(comparedParts(attemptOf(1), {}), comparedParts(attemptOf(2), {}));
});

test("a pipeline's own variable is compared, also one with the name of an axis", () => {
  assert.equal(comparedParts(attemptOf(1, { MLRB_SEED: "7" }), {})["variable MLRB_SEED"], "7");
});

test("a changed file of the harness changes the parts of an attempt, although its key stays", () => {
  const [before, after] = ["1", "2"].map((digest) => comparedParts(attemptOf(1), { "attempt.ts": digest }));
  const names = Object.keys(after!).filter((name) => before![name] !== after![name]);
  assert.deepEqual(names, ["harness"]);
});
