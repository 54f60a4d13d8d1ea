// Power: what a design could find before it is run.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "./random.ts";
import { detectableSuperiority, permutationPower } from "./significance/permutation-power.ts";
import { permutationTest } from "./significance/permutation-test.ts";
import { near } from "./testing/near.ts";

const even = (tasks: number, attempts: number, alpha = 0.05) => ({
  tasks,
  attempts: { a: attempts, b: attempts },
  alpha,
});

test("without a difference a test rejects at most as often as its level", () => {
  // the largest U of two-sided 0.05 for 5 against 5 is 2, reached by 4 of 252 orders at each end
  near(permutationPower(even(1, 5), 0.5), 8 / 252, 1e-12);
  const seven = permutationPower(even(7, 5), 0.5);
  assert.ok(seven > 0.045 && seven <= 0.05);
});

test("a detectable difference is found with the given power, and a smaller one less often", () => {
  for (const power of [0.5, 0.8, 0.9]) {
    for (const design of [even(1, 5), even(7, 3), { ...even(7, 5), attempts: { a: 5, b: 4 } }]) {
      const found = detectableSuperiority(design, { power });
      assert.ok(found.kind === "detectable");
      near(permutationPower(design, found.superiority), power, 1e-4);
      assert.ok(permutationPower(design, found.superiority - 0.02) < power);
    }
  }
});

test("3 against 3 at one task detect nothing, and 5 against 5 nothing at a seventh of 0.05", () => {
  const three = detectableSuperiority(even(1, 3));
  assert.ok(three.kind === "undetectable");
  near(three.pMin, 2 / 20, 1e-15);
  const five = detectableSuperiority(even(1, 5, 0.05 / 7));
  assert.ok(five.kind === "undetectable");
  near(five.pMin, 2 / 252, 1e-15);
  assert.equal(detectableSuperiority(even(1, 6, 0.05 / 7)).kind, "detectable");
  assert.equal(permutationPower(even(1, 3), 0.99), 0);
  assert.equal(detectableSuperiority(even(1, 3, 0.1)).kind, "detectable");
});

test("with two values of A and one of B the power is that of the order in which the largest fall", () => {
  // level 2/3: p = 2/3 needs B at an end; odds k = 3: B last 6/7 · 3/4, B first 1/7
  const design = { tasks: 1, attempts: { a: 2, b: 1 }, alpha: 0.67 };
  near(permutationPower(design, 0.75), (6 / 7) * (3 / 4) + 1 / 7, 1e-15);
});

test("the power is what the test itself reaches on simulated values, Lehmann's and normal ones", () => {
  const design = even(3, 4);
  const random = seededRandom(17);
  const rounds = 4000;
  const found = detectableSuperiority(design);
  assert.ok(found.kind === "detectable");
  const odds = found.superiority / (1 - found.superiority);
  const reached = (a: () => number, b: () => number) => {
    let hits = 0;
    for (let round = 0; round < rounds; round++) {
      const tasks = ["x", "y", "z"].map((task) => ({
        task,
        direction: "higher" as const,
        a: Array.from({ length: 4 }, a),
        b: Array.from({ length: 4 }, b),
      }));
      const result = permutationTest(tasks);
      if (result.kind === "tested" && result.p <= design.alpha) hits++;
    }
    return hits / rounds;
  };
  const standardError = Math.sqrt((0.8 * 0.2) / rounds);
  const lehmann = reached(
    () => random.fraction() ** (1 / odds),
    () => random.fraction(),
  );
  near(lehmann, 0.8, 4 * standardError);
  const normal = reached(
    () => random.normal() + found.normalShift,
    () => random.normal(),
  );
  near(normal, 0.8, 0.02 + 4 * standardError);
});

test("an invalid design is refused", () => {
  assert.throws(() => permutationPower(even(0, 5), 0.7), /bug: a design/);
  assert.throws(() => permutationPower(even(1, 5), 1), /bug: a superiority/);
  assert.throws(() => detectableSuperiority(even(1, 5, 0)), /bug/);
  assert.throws(() => detectableSuperiority(even(1, 5), { power: 0.05 }), /bug: a power/);
});
