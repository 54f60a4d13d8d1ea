import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { near } from "../testing/near.ts";
import { attainable, holm } from "./holm.ts";
import { attemptsNeeded, taskTests } from "./task-tests.ts";

test("of 0.01, 0.04, 0.03 and 0.005 Holm rejects the first and the last at 0.05", () => {
  const adjusted = holm([0.01, 0.04, 0.03, 0.005]);
  for (const [index, expected] of [0.03, 0.06, 0.06, 0.02].entries()) near(adjusted[index], expected, 1e-15);
  assert.deepEqual(holm([]), []);
  assert.deepEqual(holm([0.9, 0.8]), [1, 1]);
  assert.throws(() => holm([1.1]), /bug/);
  assert.throws(() => holm([Number.NaN]), /bug/);
});

test("an adjusted p is between p and Bonferroni's, keeps the order of p and ignores input order", () => {
  const some = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(some, (ps) => {
      const adjusted = holm(ps);
      for (const [i, p] of ps.entries()) {
        assert.ok(adjusted[i]! >= p && adjusted[i]! <= Math.min(1, p * ps.length));
        for (const [j, q] of ps.entries()) if (p < q) assert.ok(adjusted[i]! <= adjusted[j]!);
      }
      assert.deepEqual(holm(ps.toReversed()), adjusted.toReversed());
    }),
  );
});

test("5 against 5 at seven tasks cannot reach significance, 6 against 6 can", () => {
  const tests = (pMin: number) =>
    Array.from({ length: 7 }, (_, task) => ({ task: `${task}`, superiority: 1, p: pMin, pMin }));
  for (const each of taskTests(tests(2 / 252))) assert.equal(each.kind, "too-few");
  for (const each of taskTests(tests(2 / 924))) {
    assert.ok(each.kind === "tested");
    near(each.p, 14 / 924, 1e-15);
  }
});

test("a task with few attempts may be significant after others, and one that never can is marked", () => {
  assert.deepEqual(attainable([0.0079, 0.001, 0.001, 0.1], 0.05), [true, true, true, false]);
  assert.deepEqual(attainable([0.0079, 0.0079, 0.0079, 0.1], 0.05), [true, true, true, false]);
  const [first, last] = taskTests([
    { task: "a", superiority: 0.9, p: 0.02, pMin: 0.001 },
    { task: "b", superiority: 1, p: 0.1, pMin: 0.1 },
  ]);
  assert.deepEqual(first, { task: "a", superiority: 0.9, kind: "tested", p: 0.04 });
  assert.deepEqual(last, { task: "b", superiority: 1, kind: "too-few", pMin: 0.1 });
});

test("Holm never rejects a test that is called unattainable", () => {
  const share = fc.double({ min: 1e-6, max: 0.2, noNaN: true });
  const lift = fc.double({ min: 1, max: 5, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.tuple(share, lift), { minLength: 1, maxLength: 7 }), (some) => {
      const could = attainable(
        some.map(([pMin]) => pMin),
        0.05,
      );
      const adjusted = holm(some.map(([pMin, by]) => pMin * by));
      for (const [index, p] of adjusted.entries()) if (p <= 0.05) assert.ok(could[index]);
    }),
  );
});

test("the attempts needed are the fewest whose smallest p is significant among so many tests", () => {
  // 2 / C(2n, n): 1/35 of 4 against 4, 1/126 of 5 against 5, 1/462 of 6 against 6
  for (const [tests, needed] of [
    [1, 4],
    [2, 5],
    [6, 5],
    [7, 6],
    [23, 6],
    [24, 7],
  ] as const)
    assert.equal(attemptsNeeded(tests), needed, `${tests} tests`);
});
