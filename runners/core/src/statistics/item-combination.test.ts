import assert from "node:assert/strict";
import { test } from "node:test";
import { errorSources } from "./error-sources.ts";
import { itemCombination } from "./item-combination.ts";
import { type Items, itemColumns } from "./items.ts";
import { standardDeviation } from "./mean.ts";
import { ratioEstimate } from "./ratio-estimate.ts";
import { near } from "./testing/near.ts";

const items = (values: number[]): Items =>
  itemColumns(values.map((value, index) => ({ id: `i${index}`, value, weight: 1 })));

test("the item error of a mean over attempts is that of each item's mean over them", () => {
  const [a, b] = [
    [1, 0, 1, 1, 0],
    [1, 0, 0, 1, 1],
  ];
  const combined = itemCombination([a, b].map((values) => ({ items: items(values), factor: 0.5 })));
  assert.ok(combined.kind === "combined");
  const means = a.map((value, index) => (value + b[index]!) / 2);
  near(combined.value, 0.6, 1e-15);
  near(combined.standardError, standardDeviation(means)! / Math.sqrt(5), 1e-15);
});

test("an equal second attempt does not reduce the error over items, one with other errors halves it", () => {
  const first = items([1, 0, 1, 1, 0, 1]);
  const alone = ratioEstimate(first)!.standardError!;
  const half = (other: Items) => {
    const combined = itemCombination([first, other].map((each) => ({ items: each, factor: 0.5 })));
    assert.ok(combined.kind === "combined");
    return combined.standardError!;
  };
  near(half(first), alone, 1e-15);
  // means per item are ½ ½ 1 1 ½ ½ against 1 0 1 1 0 1: half the spread
  near(half(items([0, 1, 1, 1, 1, 0])), alone / 2, 1e-15);
});

test("the exact error over items never exceeds the bound without samples", () => {
  const attempts = [items([1, 0, 1, 1, 0]), items([1, 1, 1, 0, 0]), items([0, 0, 1, 1, 1])];
  const ratios = attempts.map((each) => ratioEstimate(each)!);
  const bound = errorSources(
    ratios.map(({ value, standardError }) => ({ value, itemStandardError: standardError })),
  );
  const exact = itemCombination(attempts.map((each) => ({ items: each, factor: 1 / 3 })));
  assert.ok(exact.kind === "combined" && bound.overItems !== undefined);
  assert.ok(exact.standardError! < bound.overItems);
});

test("equal scores of attempts have an error over items and no spread between attempts, and the reverse", () => {
  const same = errorSources([
    { value: 0.5, itemStandardError: 0.1 },
    { value: 0.5, itemStandardError: 0.12 },
  ]);
  assert.deepEqual(same, { attempts: 2, betweenAttempts: 0, overItems: 0.11 });
  const apart = errorSources([
    { value: 1, itemStandardError: 0 },
    { value: 3, itemStandardError: 0 },
  ]);
  assert.deepEqual(apart, { attempts: 2, betweenAttempts: Math.SQRT2, overItems: 0 });
});

test("an attempt without an item error leaves the combined error undefined", () => {
  const half = errorSources([
    { value: 1, itemStandardError: 0.1 },
    { value: 1, itemStandardError: undefined },
  ]);
  assert.equal(half.overItems, undefined);
  const one = errorSources([{ value: 1, itemStandardError: undefined }]);
  assert.deepEqual(one, { attempts: 1, betweenAttempts: undefined, overItems: undefined });
  assert.throws(() => errorSources([{ value: 1, itemStandardError: -1 }]), /bug/);
});
