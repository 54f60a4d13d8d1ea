import assert from "node:assert/strict";
import { test } from "node:test";
import { bothScores, shippedTasks } from "../../testing/lm-eval-command.ts";

test("lm-eval's own command has the same accuracy for all 67 paradigms and for BLiMP", () => {
  const paradigms = shippedTasks("blimp/[a-z]*.yaml", "");
  assert.equal(paradigms.length, 67);
  const { ours, official } = bothScores({
    scorer: "blimp",
    folder: "blimp",
    repository: "nyu-mll/blimp",
    splits: "train",
    tasks: "blimp",
    rows: Object.fromEntries(paradigms.map((paradigm, at) => [paradigm, pairs(paradigm, at)])),
  });
  assert.equal(ours.kind, "scored");
  assert.equal(Object.keys(ours.groups).length, 12);
  for (const paradigm of paradigms)
    assert.equal(ours.extra[`paradigm.${paradigm}`], official[`blimp_${paradigm}`]?.["acc,none"], paradigm);
  assert.ok(Math.abs(ours.value - (official.blimp?.["acc,none"] ?? Number.NaN)) < 1e-12);
  const found = new Set(Object.values(ours.groups).map(({ value }) => value));
  assert.ok(found.size > 2, "every phenomenon has the same accuracy: nothing was compared");
});

/** One to three pairs, so that a mean over paradigms is not the mean over pairs. */
function pairs(paradigm: string, at: number): object[] {
  return Array.from({ length: 1 + (at % 3) }, (_, index) => ({
    sentence_good: `The ${paradigm.slice(0, 5)} ${"see"[index]} ${at} things.`,
    sentence_bad: `The ${paradigm.slice(-5)} sees ${at} thing.`,
    UID: paradigm,
    pair_id: index,
  }));
}
