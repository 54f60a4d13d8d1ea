import assert from "node:assert/strict";
import { test } from "node:test";
import { near } from "../../statistics/testing/near.ts";
import { agreement, cohensKappa } from "./agreement.ts";
import { type Labelled, labelledTrajectory } from "./labelled-trajectory.ts";

const repeated = (pair: [string, string], times: number) => Array.from({ length: times }, () => pair);

test("kappa of a small table equals the value computed by hand", () => {
  // 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, expected 0.5 · 0.6 + 0.5 · 0.4 = 0.5
  const pairs = [
    ...repeated(["yes", "yes"], 20),
    ...repeated(["yes", "no"], 5),
    ...repeated(["no", "yes"], 10),
    ...repeated(["no", "no"], 15),
  ];
  near(cohensKappa(pairs).kappa!, 0.4, 1e-12);
});

test("kappa is 0 for chance agreement, 1 for full agreement, and null for a single word", () => {
  near(
    cohensKappa([
      ["a", "a"],
      ["a", "b"],
      ["b", "a"],
      ["b", "b"],
    ]).kappa!,
    0,
    1e-12,
  );
  assert.equal(
    cohensKappa([
      ["a", "a"],
      ["b", "b"],
    ]).kappa,
    1,
  );
  assert.equal(
    cohensKappa([
      ["a", "a"],
      ["a", "a"],
    ]).kappa,
    null,
  );
});

const labelled = (counts: boolean[], whose = "none"): Labelled =>
  labelledTrajectory(
    "x",
    [
      { label: { kind: "command", split: "tuning", whose, where: "none", budgetS: 100 } },
      { s: 0, exec: ["x"] },
      { s: 1, handed: ["model.safetensors"], digest: "1", counts: counts[0] },
      { s: 2, handed: ["model.safetensors"], digest: "2", counts: counts[1] },
      { s: 3, exit: 0 },
    ]
      .map((line) => JSON.stringify(line))
      .join("\n"),
  );

test("precision and recall fall when a label or an iteration has no partner", () => {
  const of = (set: Labelled[]) => agreement(set).iterations;
  assert.deepEqual([of([labelled([true, true])]).precision, of([labelled([true, true])]).recall], [1, 1]);
  assert.deepEqual([of([labelled([true, false])]).precision, of([labelled([true, false])]).recall], [0.5, 1]);
  const twice = { ...labelled([true, false]), counts: [2, 2] };
  assert.equal(of([twice]).right, 1, "two labels in one span are not two iterations");
});

test("every difference is named", () => {
  assert.match(
    agreement([labelled([true, true], "provider")]).differ[0]!,
    /x: labelled provider, none; found none, none/,
  );
});
