// An agent in a container runs `check-submission` in its workspace, on a good folder and on bad ones.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answersOf, outcome, outcomes } from "./support/attempts/check-attempt.ts";
import { testEngine } from "./support/machines/docker-engine.ts";

test("in a container the program tells good folders from bad ones", { timeout: 450_000 }, async (t) => {
  const engine = await testEngine();
  if ("skip" in engine) return t.skip(engine.skip);
  t.after(() => engine.stop());
  const names = ["good", "masked-model", "missing-layers"] as const;
  const answers = await answersOf(t, [...names], { executor: "docker", env: engine.env });
  for (const name of names)
    assert.equal(outcome(answers.get(name)!), outcomes[name], JSON.stringify([...answers]));
  assert.deepEqual(
    answers.get("good")!.checks.map(({ check, answer }) => `${answer} ${check}`),
    ["pass admission", "pass load", "pass model", "pass look-ahead"],
  );
});
