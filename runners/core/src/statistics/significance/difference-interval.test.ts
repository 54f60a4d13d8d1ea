import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../random.ts";
import { near } from "../testing/near.ts";
import { differenceInterval, type TaskScale } from "./difference-interval.ts";
import { permutationTest } from "./permutation-test.ts";

/** Seven tasks of five against five; one attempt in five fails, which is 0. A is better by `gap`. */
function tasks(seed: number, gap: number): TaskScale[] {
  const random = seededRandom(seed);
  const draw = (mean: number) =>
    Array.from({ length: 5 }, () => (random.fraction() < 0.2 ? 0 : mean + 0.1 * random.normal()));
  return Array.from({ length: 7 }, (_, task) => ({ task: `t${task}`, a: draw(1 + gap), b: draw(1) }));
}

function found(given: readonly TaskScale[]) {
  const result = differenceInterval(given);
  assert.ok(result.kind === "difference" && result.interval !== null);
  return { value: result.value, low: result.interval[0], high: result.interval[1] };
}

test("the difference is the mean over tasks of the differences of means, failures included", () => {
  const { value, low, high } = found([
    {
      task: "x",
      a: [1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1],
      b: [0, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    },
    { task: "y", a: [2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2.5], b: [2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2.5] },
  ]);
  near(value, (9 / 11 - 4.5 / 11) / 2, 1e-12);
  assert.ok(low < value && value < high);
});

test("a shift of one agent shifts the interval, and a change of scale scales it", () => {
  const base = tasks(1, 0.3);
  const { low, high } = found(base);
  const moved = found(base.map((each) => ({ ...each, a: each.a.map((value) => value + 2) })));
  near(moved.low, low + 2, 1e-9);
  near(moved.high, high + 2, 1e-9);
  const scaled = found(
    base.map(({ task, a, b }) => ({ task, a: a.map((v) => 10 * v), b: b.map((v) => 10 * v) })),
  );
  near(scaled.low, 10 * low, 1e-9);
  near(scaled.high, 10 * high, 1e-9);
});

test("differences between tasks do not widen the interval, because tasks are fixed", () => {
  const base = tasks(2, 0.3);
  const apart = base.map((each, index) => ({ ...each, a: each.a.map((value) => value + 20 * (index - 3)) }));
  const [narrow, wide] = [found(base), found(apart)];
  near(wide.high - wide.low, narrow.high - narrow.low, 1e-9);
});

test("an absurdly bad attempt of the other agent does not narrow the interval", () => {
  const base = tasks(3, 0.3);
  const spoiled = base.map((each, index) => (index === 0 ? { ...each, b: [-50, ...each.b.slice(1)] } : each));
  assert.ok(found(spoiled).high - found(spoiled).low > found(base).high - found(base).low);
});

test("the order of attempts changes nothing, and the same input gives the same interval", () => {
  const base = tasks(4, 0.3);
  const turned = base.map(({ task, a, b }) => ({ task, a: a.toReversed(), b: b.toReversed() }));
  assert.deepEqual(differenceInterval(turned), differenceInterval(base));
});

test("swapped agents mirror the interval, apart from the drawn labels", () => {
  const base = tasks(5, 0.3);
  const swapped = found(base.map(({ task, a, b }) => ({ task, a: b, b: a })));
  const { value, low, high } = found(base);
  near(swapped.value, -value, 1e-12);
  near(swapped.low, -high, 0.03);
  near(swapped.high, -low, 0.03);
});

test("the interval excludes 0 where the test of ranks is clear", () => {
  const base = tasks(6, 1);
  const { low } = found(base);
  assert.ok(low > 0);
  const ranks = permutationTest(base.map((each) => ({ ...each, direction: "higher" })));
  assert.ok(ranks.kind === "tested" && ranks.p < 0.01);
});

test("few attempts, a single one at a task, and equal attempts have a difference without an interval", () => {
  const few = differenceInterval(tasks(7, 0.3).slice(0, 4));
  assert.ok(few.kind === "difference" && few.withheld === "too-few" && few.interval === null);
  const base = tasks(7, 0.3);
  const single = differenceInterval([{ ...base[0]!, a: [1] }, ...base.slice(1)]);
  assert.ok(single.kind === "difference" && single.withheld === "too-few");
  const equal = differenceInterval(base.map(({ task }) => ({ task, a: [1, 1, 1, 1], b: [0, 0, 0] })));
  assert.deepEqual(equal, { kind: "difference", value: 1, interval: null, withheld: "no-spread" });
});

test("values that are not finite and repeated tasks are bugs", () => {
  const [first] = tasks(8, 0);
  assert.throws(() => differenceInterval([first!, first!]), /bug: a task appears twice/);
  assert.throws(() => differenceInterval([{ ...first!, a: [Number.NaN] }]), /bug/);
  assert.throws(() => differenceInterval([{ ...first!, a: [] }]), /bug: a task without values/);
});
