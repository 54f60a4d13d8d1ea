import assert from "node:assert/strict";
import { test } from "node:test";
import { markdown } from "../formats/markdown.ts";
import { anchorRows, Example, passed, scored, textItems } from "../testing/example.ts";

/** Three seeds of one agent; the second was resumed this often. */
function report(resumed: number | undefined) {
  const example = new Example();
  for (const [seed, bits] of [
    [1, 2],
    [2, 1],
    [3, 2.5],
  ] as const) {
    const axes = { task: "letters", agent: "plain", seed };
    example
      .gives("attempt", axes, { submission: `sha256:${seed}` })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "bits" }, scored("bits", textItems(bits)));
  }
  const member = example.members.find(({ role, axes }) => role === "attempt" && axes.seed === 2)!;
  if (resumed !== undefined) member.resumed = resumed;
  const rows = anchorRows("bits", [{ name: "unigram", value: 3 }]);
  return example.gives("anchors", { task: "letters", scorer: "bits" }, rows).report();
}

test("a resumed attempt counts, and a sensitivity row has the mean without it", () => {
  const made = report(2);
  assert.equal(made.cells[0]!.measured, 3);
  const [row, ...others] = made.sensitivity;
  assert.deepEqual(others, []);
  assert.deepEqual([row!.variant, row!.attempts, row!.measured], ["without-resumed", 1, 2]);
  assert.equal(row!.mean?.toFixed(2), "2.25");
  const text = markdown(made);
  assert.match(text, /without resumed attempts .* 2\.25 \(1\)/);
  assert.match(text, /\\# resumed 2 times after its supervisor or host died/);
  assert.match(text, /1 attempt was resumed after a supervisor or host died \(\\#\)\./);
});

test("without a restart no table speaks of one", () => {
  assert.deepEqual(report(undefined).sensitivity, []);
  assert.doesNotMatch(markdown(report(undefined)), /resumed/);
});
