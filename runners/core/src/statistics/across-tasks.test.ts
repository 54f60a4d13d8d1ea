import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { acrossTasks, interquartileMean } from "./across-tasks.ts";
import { near } from "./testing/near.ts";

const even = (values: number[]) => values.map((value) => ({ value, weight: 1 }));

test("a task with more attempts weighs as much as any other, in both means", () => {
  const result = acrossTasks([
    { task: "a", values: [0, 0, 0, 0, 0, 0] },
    { task: "b", values: [1] },
  ]);
  assert.equal(result.mean, 0.5);
  // half of the weight at 0, half at 1, and the middle half is a quarter of each
  near(result.interquartileMean, 0.5, 1e-15);
});

test("leaving out the task that dominates the mean changes the mean", () => {
  const result = acrossTasks([
    { task: "a", values: [0.1, 0.3] },
    { task: "b", values: [0.2] },
    { task: "c", values: [3] },
  ]);
  near(result.mean, 3.4 / 3, 1e-15);
  assert.deepEqual(
    result.leaveOneOut.map(({ without }) => without),
    ["a", "b", "c"],
  );
  near(result.leaveOneOut[2]!.mean, 0.2, 1e-15);
  near(result.leaveOneOut[0]!.mean, 1.6, 1e-15);
});

test("a task without values is named and left out, not taken as 0", () => {
  const result = acrossTasks([
    { task: "a", values: [0.4] },
    { task: "b", values: [] },
  ]);
  assert.deepEqual(result, {
    tasks: ["a"],
    without: ["b"],
    mean: 0.4,
    leaveOneOut: [],
    interquartileMean: 0.4,
  });
  assert.equal(acrossTasks([]).mean, undefined);
  assert.equal(acrossTasks([]).interquartileMean, undefined);
  const twice = { task: "a", values: [1] };
  assert.throws(() => acrossTasks([twice, twice]), /bug: a task appears twice/);
});

test("the interquartile mean equals SciPy's trimmed mean if a quarter is a whole number of values", () => {
  // scipy 1.15.3: stats.trim_mean(values, 0.25)
  near(interquartileMean(even([5, 8, 4, 38, 8, 6, 9, 7, 7, 3, 1, 6])), 6.5, 1e-14);
  near(interquartileMean(even([0.1, -0.4, 0.9, 1.3, 0.2, 0.25, 0.5, 0.7])), 0.4125, 1e-14);
});

test("a value on the edge of a quarter counts with the part inside", () => {
  // of 1 2 3 4 5 the middle half is a quarter off each of 2 and 4: (0.75 · 2 + 3 + 0.75 · 4) / 2.5
  near(interquartileMean(even([5, 1, 4, 2, 3])), 3, 1e-15);
  near(interquartileMean(even([10, 0, 0])), 5 / 3, 1e-14);
});

test("the interquartile mean moves with a constant, is within the values and ignores their order", () => {
  const values = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(values, fc.double({ min: -5, max: 5, noNaN: true }), (some, shift) => {
      const middle = interquartileMean(even(some))!;
      assert.ok(middle >= Math.min(...some) - 1e-12 && middle <= Math.max(...some) + 1e-12);
      near(interquartileMean(even(some.map((each) => each + shift))), middle + shift, 1e-12);
      near(interquartileMean(even(some.toReversed())), middle, 1e-12);
    }),
  );
  assert.throws(() => interquartileMean([{ value: 1, weight: 0 }]), /bug/);
});
