import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { float32, type NewTensor } from "../safetensors/testing/safetensors-bytes.ts";
import type { Json } from "../stage.ts";
import { ruleMethods, ruleProblems } from "./rule-methods.ts";
import { half, root, values, weights } from "./testing/weights.ts";

const shapes: Record<string, [number, number]> = { "a.0": [64, 48], "a.1": [64, 48], "b.0": [48, 48] };
const names = Object.keys(shapes);
const size = (name: string) => shapes[name]![0] * shapes[name]![1];
type Model = Record<string, number[]>;

const base: Model = Object.fromEntries(names.map((name, at) => [name, values(at + 1, size(name))]));
const moved = (from: Model, seed: number, by: number, only: string[] = names): Model =>
  Object.fromEntries(
    names.map((name, at) => {
      const noise = values(seed + at, size(name));
      return [
        name,
        from[name]!.map((value, place) => value + (only.includes(name) ? by * noise[place]! : 0)),
      ];
    }),
  );
const expertA = moved(base, 10, 0.1, ["a.0", "a.1"]);
const expertB = moved(base, 20, 0.1, ["a.0", "b.0"]);
const mixed = (weigh: (name: string, place: number) => number): Model =>
  Object.fromEntries(names.map((name) => [name, base[name]!.map((_, place) => weigh(name, place))]));
const average = mixed((name, place) => (expertA[name]![place]! + expertB[name]![place]!) / 2);

const tensors = (model: Model, as: (shape: number[], of: number[]) => NewTensor = float32) =>
  Object.fromEntries(Object.entries(model).map(([name, of]) => [name, as(shapes[name] ?? [48, 64], of)]));
const brain = (shape: number[], of: number[]) => half(shape, of, "BF16");

const models = mkdtempSync(join(root, "models-"));
for (const [name, model] of Object.entries({ base, "expert-a": expertA, "expert-b": expertB })) {
  mkdirSync(join(models, name));
  weights(tensors(model), join(models, name));
}

function decide(
  method: string,
  model: Record<string, NewTensor> | undefined,
  given: Record<string, Json>,
  folder = root,
) {
  assert.equal(ruleMethods[method]!.problem(given), undefined);
  const context = {
    folder,
    weights: model && weights(model),
    ledger: "none",
    budgetMs: 1,
    knownWeights: [],
    models,
  };
  return ruleMethods[method]!.decide!(context, given);
}

const all: Json = { models: ["base", "expert-a", "expert-b"] };

test("a model trained from a given one is recognised under any names, and another is not", () => {
  const given: Json = { models: ["base"] };
  const trained = moved(base, 30, 0.2);
  assert.deepEqual(decide("base-approved", tensors(trained), given).answer, "pass");
  const renamed = Object.fromEntries(
    Object.entries(tensors(trained)).map(([name, one]) => [`my.${name}`, one]),
  );
  assert.equal(decide("base-approved", renamed, given).answer, "pass");
  const { answer, evidence } = decide("base-approved", tensors(moved(base, 40, 30)), given);
  assert.deepEqual([answer, evidence], ["fail", "0 of 3 matrices are those of base"]);
  const packed = { w: { dtype: "I8", shape: [64, 48], bytes: new Uint8Array(64 * 48) } };
  assert.equal(decide("base-approved", packed, given).answer, "undecided");
});

test("an unchanged given model is recognised in any precision, and one changed matrix makes it different", () => {
  for (const as of [float32, brain])
    assert.deepEqual(decide("changed", tensors(expertB, as), all), {
      answer: "fail",
      evidence: "all 3 matrices are those of expert-b, unchanged",
    });
  assert.equal(decide("changed", tensors(moved(expertB, 50, 0.1, ["a.1"])), all).answer, "pass");
});

test("averages, task arithmetic, copied layers and chosen values are mixtures of the given models", () => {
  const arithmetic = mixed(
    (name, at) => expertA[name]![at]! + 0.7 * (expertB[name]![at]! - base[name]![at]!),
  );
  const layers = { ...expertA, "b.0": expertB["b.0"]! };
  const either = mixed((name, at) => (at % 3 ? expertA : expertB)[name]![at]!);
  for (const model of [average, arithmetic, layers, either])
    for (const as of [float32, brain])
      assert.equal(decide("merge-explained", tensors(model, as), all).answer, "pass");
});

test("a mixture that was trained afterwards fails, and another architecture leaves it open", () => {
  const { answer, evidence } = decide("merge-explained", tensors(moved(average, 60, 0.05, ["b.0"])), all);
  assert.deepEqual(
    [answer, evidence],
    ["fail", '1 of 3 matrices are no mixture of base, expert-a, expert-b, e.g. "b.0"'],
  );
  const wider = { ...tensors(average), "c.0": float32([48, 64], values(7, 48 * 64)) };
  assert.equal(decide("merge-explained", wider, all).answer, "undecided");
});

test("dropped and renumbered layers and zeros are compression of the base", () => {
  const given: Json = { model: "base" };
  const dropped = { "a.0": base["a.1"]!, "b.0": base["b.0"]! };
  const zeros = mixed((name, at) => (at % 2 ? base[name]![at]! : 0));
  for (const model of [dropped, zeros])
    for (const as of [float32, brain])
      assert.equal(decide("compressed-base", tensors(model, as), given).answer, "pass");
});

test("training and rounding to a grid show in compressed weights; other shapes leave it open", () => {
  const given: Json = { model: "base" };
  const grid = mixed((name, at) => Math.round(base[name]![at]! * 8) / 8);
  for (const model of [moved(base, 70, 0.02, ["a.0"]), grid]) {
    const { answer, evidence } = decide("compressed-base", tensors(model), given);
    assert.equal(answer, "fail");
    assert.match(evidence, /^[13] of 3 matrices hold values that base does not, e\.g\. "a\.0"$/);
  }
  const narrow = { "a.0": float32([32, 48], base["a.0"]!.slice(0, 32 * 48)) };
  const part = decide("compressed-base", { ...narrow, "b.0": tensors(base)["b.0"]! }, given);
  assert.deepEqual(
    [part.answer, part.evidence],
    [
      "undecided",
      "1 of 2 matrices have a shape that none of base has, 0 are in a type that cannot be compared; the other 1 are those of base",
    ],
  );
});

test("of a model with none of the base's shapes the evidence claims no matrix as the base's", () => {
  const unrelated = {
    "h.0": float32([96, 32], values(11, 96 * 32)),
    "h.1": float32([32, 96], values(12, 96 * 32)),
  };
  const { answer, evidence } = decide("compressed-base", unrelated, { model: "base" });
  assert.equal(answer, "undecided");
  assert.match(evidence, /^2 of 2 matrices have a shape .*; nothing shows that it was made from base$/);
});

test("an unchanged model with matrices in a type that cannot be compared does not pass as changed", () => {
  const packed = { dtype: "I8", shape: [64, 48], bytes: new Uint8Array(64 * 48) };
  const { answer, evidence } = decide("changed", { ...tensors(expertB), "a.0": packed }, all);
  assert.deepEqual(
    [answer, evidence],
    [
      "undecided",
      "1 matrices are in a type that cannot be compared; none of the others differs from expert-b",
    ],
  );
  const moving = { ...tensors(moved(expertB, 51, 0.1, ["a.1"])), "a.0": packed };
  assert.equal(decide("changed", moving, all).answer, "pass");
});

test("a submission that was not admitted is not judged, and a missing given model throws", () => {
  assert.equal(decide("merge-explained", undefined, all).answer, "undecided");
  assert.throws(
    () => decide("base-approved", tensors(base), { models: ["other"] }),
    /gives no model "other"/,
  );
  const rule = { title: "t", source: "official", severity: "note" } as const;
  const problems = ruleProblems([
    { ...rule, name: "a", method: "compressed-base", with: { models: "base" } },
    { ...rule, name: "c", method: "base-approved", with: {} },
  ]);
  assert.equal(problems.length, 2);
});
