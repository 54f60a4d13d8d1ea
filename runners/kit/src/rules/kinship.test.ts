import assert from "node:assert/strict";
import { test } from "node:test";
import { float32, type NewTensor } from "../safetensors/testing/safetensors-bytes.ts";
import { fingerprint } from "./fingerprint.ts";
import { kinship, type Relative } from "./kinship.ts";
import { values, weights } from "./testing/weights.ts";

const shape = [48, 64];
const matrix = (seed: number) => values(seed, 48 * 64);
const relative = (name: string, tensors: Record<string, NewTensor> | undefined): Relative => ({
  name,
  fingerprint: tensors && fingerprint({ name: "", source: "", licence: "" }, weights(tensors)),
});
const own = (seed: number) => ({
  a: float32(shape, matrix(seed)),
  b: float32([64, 48], matrix(seed + 100)),
});

test("attempts with their own weights share none", () => {
  const found = kinship([relative("one", own(1)), relative("two", own(2)), relative("three", own(3))]);
  for (const { answer, evidence } of found) {
    assert.equal(answer, "pass");
    assert.equal(evidence, "none of 2 matrices is one of 2 other attempts");
  }
});

test("shared weights are reported at both attempts, also trained further and renamed, and disqualify neither", () => {
  const noise = matrix(7);
  const further = float32(
    shape,
    matrix(1).map((value, at) => value + 0.2 * noise[at]!),
  );
  const [one, two, three] = kinship([
    relative("one", own(1)),
    relative("two", own(2)),
    relative("three", { renamed: further, fresh: float32([64, 48], matrix(9)) }),
  ]);
  assert.deepEqual([one!.answer, two!.answer, three!.answer], ["undecided", "pass", "undecided"]);
  assert.match(one!.evidence, /^1 of 2 matrices also occur in the submission of three, e\.g\. "a" /);
  assert.match(three!.evidence, /^1 of 2 matrices also occur in the submission of one, e\.g\. "renamed" /);
});

test("of several other attempts the one with most shared weights is named, the first of equals", () => {
  const [found] = kinship([
    relative("one", own(1)),
    relative("part", { a: own(1).a }),
    relative("whole", own(1)),
    relative("again", own(1)),
  ]);
  assert.match(found!.evidence, /^2 of 2 matrices also occur in the submission of whole, /);
});

test("an attempt without readable weights is undecided, and so is the only one with weights", () => {
  const constant = { a: float32(shape, Array(48 * 64).fill(1)) };
  const [nothing, flat, alone] = kinship([
    relative("nothing", undefined),
    relative("flat", constant),
    relative("alone", own(1)),
  ]);
  for (const found of [nothing, flat]) assert.equal(found!.answer, "undecided");
  assert.deepEqual(alone, { answer: "undecided", evidence: "there is no other attempt to compare with" });
});

test("of 100 000 matrices of one shape some are compared, and the answer says so", () => {
  const tensor = (at: number) => ({ name: `t${at}`, shape: [32, 32], values: values(at, 64) });
  const some = Array.from({ length: 600 }, (_, at) => tensor(at));
  const many = Array.from({ length: 100_000 }, (_, at) => ({ ...some[at % 600]!, name: `t${at}` }));
  const of = (name: string, tensors: typeof some): Relative => ({
    name,
    fingerprint: { formatVersion: 1, name: "", source: "", licence: "", tensors },
  });
  const [flooding, small] = kinship([of("one", many), of("two", [{ ...tensor(7000), name: "own" }])]);
  assert.equal(flooding!.answer, "undecided");
  assert.match(
    flooding!.evidence,
    /^none of 512 matrices .*; 99488 were not compared, being over 512 of one shape/,
  );
  assert.deepEqual(small, {
    answer: "pass",
    evidence: "none of 1 matrices is one of 1 other attempts, of which 1 was compared in part",
  });
});
