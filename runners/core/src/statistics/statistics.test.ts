import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Item, type Items, itemColumns } from "./items.ts";
import { mean, standardDeviation } from "./mean.ts";
import { meanInterval } from "./mean-interval.ts";
import { pairedDifference } from "./paired-difference.ts";
import { ratioEstimate } from "./ratio-estimate.ts";
import { studentT95 } from "./student-t.ts";
import { near } from "./testing/near.ts";
import { wilsonInterval } from "./wilson-interval.ts";

test("equal values average to exactly that value", () => {
  assert.equal(mean([0.1, 0.1, 0.1]), 0.1);
  assert.equal(mean([3.07, 3.07, 3.07, 3.07, 3.07]), 3.07);
});

test("an empty list has no mean, and one value has a mean but no spread or interval", () => {
  assert.equal(mean([]), undefined);
  assert.equal(standardDeviation([]), undefined);
  assert.equal(mean([2.5]), 2.5);
  assert.equal(standardDeviation([2.5]), undefined);
  assert.equal(meanInterval([2.5]), undefined);
});

test("the standard deviation of 2 4 4 4 5 5 7 9 is the root of 32/7, also far from zero", () => {
  const values = [2, 4, 4, 4, 5, 5, 7, 9];
  near(standardDeviation(values), Math.sqrt(32 / 7), 1e-15);
  near(standardDeviation(values.map((value) => value + 1e9)), Math.sqrt(32 / 7), 1e-9);
});

test("a value that is not finite throws, and a result that is not finite is undefined", () => {
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => mean([1, bad]), /bug: value 1 is/);
    assert.throws(() => meanInterval([bad, 1]), /bug: value 0 is/);
    assert.throws(
      () => ratioEstimate(itemColumns([{ id: "a", value: bad, weight: 1 }])),
      /bug: item value 0/,
    );
  }
  assert.equal(mean([Number.MAX_VALUE, Number.MAX_VALUE]), Number.MAX_VALUE);
  assert.equal(mean([Number.MAX_VALUE, -Number.MAX_VALUE]), undefined);
  assert.equal(standardDeviation([1e200, -1e200]), undefined);
  assert.equal(meanInterval([1e200, -1e200]), undefined);
});

test("Student's t agrees with the printed tables for 1 to 30 degrees of freedom and beyond", () => {
  const table = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
    2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
  ];
  for (const [index, printed] of table.entries()) near(studentT95(index + 1), printed, 0.0005);
  for (const [degrees, printed] of [
    [40, 2.021],
    [60, 2.0],
    [120, 1.98],
    [1_000_000_000, 1.96],
  ] as const)
    near(studentT95(degrees), printed, 0.0005);
});

test("Student's t has the closed forms of 1 and 2 degrees of freedom to twelve digits", () => {
  near(studentT95(1), Math.tan((0.95 * Math.PI) / 2), 1e-11);
  near(studentT95(2), 0.95 * Math.sqrt(2 / (1 - 0.95 ** 2)), 1e-12);
});

test("Student's t falls with every degree of freedom, also at the switch to the expansion", () => {
  for (let degrees = 990; degrees < 1010; degrees++) {
    const step = studentT95(degrees) - studentT95(degrees + 1);
    // dt/dν ≈ (z³ + z) / 4ν²
    near(step, (1.959964 ** 3 + 1.959964) / (4 * (degrees + 0.5) ** 2), 2e-8);
    assert.ok(step > 0);
  }
  for (const bad of [0, -1, 1.5, Number.NaN]) assert.throws(() => studentT95(bad), /bug/);
});

test("the interval of 1 and 3 is 2 ± 12.706, and that of 1 2 3 4 5 is 3 ± 1.963", () => {
  const two = meanInterval([1, 3])!;
  near(two[0], 2 - 12.7062, 1e-4);
  near(two[1], 2 + 12.7062, 1e-4);
  const five = meanInterval([1, 2, 3, 4, 5])!;
  near(five[0], 3 - (2.776445 * Math.sqrt(2.5)) / Math.sqrt(5), 1e-5);
  near(five[1], 3 + (2.776445 * Math.sqrt(2.5)) / Math.sqrt(5), 1e-5);
});

test("Wilson's interval of 81 of 263 and of 15 of 148 are those printed by Newcombe (1998), and SciPy's hold for one trial", () => {
  for (const [successes, trials, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
    // scipy 1.15.3: stats.binomtest(k, n).proportion_ci(method="wilson")
    [0, 1, 0, 0.79345],
    [1, 1, 0.20655, 1],
    [4, 5, 0.37553, 0.96378],
  ] as const) {
    const interval = wilsonInterval(successes, trials)!;
    near(interval[0], low, 0.00005);
    near(interval[1], high, 0.00005);
  }
});

test("Wilson's interval ends exactly at 0 and 1, and no trials have none", () => {
  assert.equal(wilsonInterval(0, 7)![0], 0);
  assert.equal(wilsonInterval(7, 7)![1], 1);
  assert.equal(wilsonInterval(0, 0), undefined);
  assert.throws(() => wilsonInterval(3, 2), /bug/);
});

const rows = (values: number[], weights: number[] = values.map(() => 1), groups: string[] = []): Item[] =>
  values.map((value, index) => ({
    id: `i${index}`,
    value,
    weight: weights[index]!,
    ...(groups[index] === undefined ? {} : { group: groups[index] }),
  }));
const items = (...of: Parameters<typeof rows>): Items => itemColumns(rows(...of));

test("with weights of one the ratio is the mean and its error s over the root of n", () => {
  const values = [1, 0, 1, 1, 0, 1];
  const ratio = ratioEstimate(items(values))!;
  near(ratio.value, 4 / 6, 1e-15);
  near(ratio.standardError, standardDeviation(values)! / Math.sqrt(6), 1e-15);
});

test("the ratio of 10 of 4 and 6 of 4 is 2 ± 0.5, and clusters sum their items first", () => {
  const ratio = ratioEstimate(items([10, 6], [4, 4]))!;
  near(ratio.value, 2, 1e-15);
  // pulls (10 − 8) / 8 and (6 − 8) / 8; 2/1 · (1/16 + 1/16) = 1/4
  near(ratio.standardError, 0.5, 1e-15);
  const grouped = ratioEstimate(items([1, 1, 0, 0], [1, 1, 1, 1], ["a", "a", "b", "b"]))!;
  // pulls ± 1/8, by group ± 1/4; 2/1 · (1/16 + 1/16) = 1/4
  near(grouped.clustered?.standardError, 0.5, 1e-15);
  assert.equal(grouped.clustered?.clusters, 2);
  assert.ok(grouped.standardError! < 0.5);
});

test("one item has a ratio without an error, no items or no weight have no ratio", () => {
  assert.deepEqual(ratioEstimate(items([3], [2])), {
    value: 1.5,
    standardError: undefined,
    clustered: undefined,
  });
  assert.equal(ratioEstimate(items([])), undefined);
  assert.equal(ratioEstimate(items([1, 1], [0, 0])), undefined);
});

test("with weights of one the paired error is that of the paired t-test, in any order of items", () => {
  // Student's sleep data: mean difference 1.58, standard error 0.3890 (t = 4.0621).
  const a = items([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]);
  const b = itemColumns(rows([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]).reverse());
  const paired = pairedDifference([{ a, b }]);
  assert.equal(paired.kind, "difference");
  if (paired.kind !== "difference") return;
  near(paired.value, 1.58, 1e-12);
  near(paired.value / paired.standardError!, 4.0621, 5e-5);
  assert.equal(paired.items, 10);
});

test("a repeated seed does not reduce the paired error", () => {
  const a = items([1, 2, 4], [2, 2, 3]);
  const b = items([2, 2, 5], [2, 2, 3]);
  const once = pairedDifference([{ a, b }]);
  const twice = pairedDifference([
    { a, b },
    { a, b },
  ]);
  assert.ok(once.kind === "difference" && twice.kind === "difference");
  near(once.value, -2 / 7, 1e-15);
  near(twice.value, once.value, 1e-15);
  near(twice.standardError, once.standardError!, 1e-15);
});

test("different items are not subtracted", () => {
  const [one, two] = rows([1, 0]) as [Item, Item];
  const a = itemColumns([one, two]);
  for (const b of [[one], [{ ...one, id: "x" }, two], [one, one], []]) {
    assert.equal(pairedDifference([{ a, b: itemColumns(b) }]).kind, "unpaired");
  }
  assert.equal(pairedDifference([]).kind, "unpaired");
  assert.equal(pairedDifference([{ a: items([9e307, 9e307]), b: items([-9e307, -8e307]) }]).kind, "unpaired");
  assert.equal(pairedDifference([{ a: itemColumns([one, one]), b: a }]).kind, "unpaired");
  assert.equal(pairedDifference([{ a, b: items([1, 0], [0, 0]) }]).kind, "unpaired");
  assert.equal(pairedDifference([{ a, b: items([1, 0], [1, 1], ["g", "g"]) }]).kind, "unpaired");
});

test("swapping the sides changes only the sign", () => {
  const side = fc.array(
    fc.tuple(fc.double({ min: -9, max: 9, noNaN: true }), fc.double({ min: 0.5, max: 9, noNaN: true })),
    {
      minLength: 4,
      maxLength: 4,
    },
  );
  const build = (pairs: [number, number][]) =>
    items(
      pairs.map(([value]) => value),
      pairs.map(([, weight]) => weight),
    );
  fc.assert(
    fc.property(side.map(build), side.map(build), (a, b) => {
      const there = pairedDifference([{ a, b }]);
      const back = pairedDifference([{ a: b, b: a }]);
      assert.ok(there.kind === "difference" && back.kind === "difference");
      near(there.value, -back.value, 1e-12);
      near(there.standardError, back.standardError!, 1e-12);
    }),
  );
});
