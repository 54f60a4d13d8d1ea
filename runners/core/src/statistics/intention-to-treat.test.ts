import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { attemptsInterval } from "./attempts-interval.ts";
import { type AttemptResult, attemptFailures, intentionToTreat } from "./intention-to-treat.ts";
import { near } from "./testing/near.ts";

const valid = (value: number): AttemptResult => ({ kind: "valid", value });
const failed = (because: (typeof attemptFailures)[number]): AttemptResult => ({ kind: "failed", because });
const missing: AttemptResult = { kind: "missing" };

test("two failures of five count as the trivial baseline, and the valid mean covers the other three", () => {
  const result = intentionToTreat(
    [valid(0.55), failed("disqualified"), valid(0.61), valid(0.58), failed("no-submission")],
    { baseline: 0.25, direction: "higher", range: [0, 1] },
  );
  assert.deepEqual(result.counted, [0.55, 0.25, 0.61, 0.58, 0.25]);
  assert.deepEqual(result.failed, { "no-submission": 1, malformed: 0, rejected: 0, disqualified: 1 });
  assert.deepEqual([result.planned, result.measured, result.valid.n], [5, 5, 3]);
  near(result.valid.mean, 0.58, 1e-15);
  assert.ok(result.mean.kind === "mean" && result.valid.interval.kind === "interval");
  near(result.mean.value, 0.448, 1e-15);
  // mean ± t(2) · s / √3 of the three valid ones
  const half = (4.302652729749464 * 0.03) / Math.sqrt(3);
  near(result.valid.interval.low, 0.58 - half, 1e-12);
  near(result.valid.interval.high, 0.58 + half, 1e-12);
  // Wilson 1927 at 3 of 5
  near(result.passed?.[0], 0.2307, 1e-4);
  near(result.passed?.[1], 0.8824, 1e-4);
});

test("all failures of the agent count equally", () => {
  for (const because of attemptFailures) {
    const result = intentionToTreat([valid(1), failed(because)], { baseline: 0, direction: "higher" });
    assert.deepEqual(result.mean, { kind: "mean", value: 0.5 });
    assert.equal(result.failed[because], 1);
  }
});

test("one missing of five leaves an interval over four, two of five leave only the mean", () => {
  const four = intentionToTreat([valid(1), valid(2), missing, valid(3), valid(4)], {
    baseline: 0,
    direction: "higher",
  });
  assert.deepEqual(four.counted, [1, 2, null, 3, 4]);
  assert.equal(four.measured, 4);
  assert.deepEqual(four.mean, { kind: "mean", value: 2.5 });
  assert.equal(four.valid.interval.kind, "interval");
  const three = intentionToTreat([valid(1), valid(2), missing, valid(3), missing], {
    baseline: 0,
    direction: "higher",
  });
  assert.deepEqual(three.mean, { kind: "mean", value: 2 });
  assert.deepEqual(three.valid.interval, { kind: "none", why: "too-many-missing" });
  assert.equal(three.passed, undefined);
});

test("without a trivial baseline a failure leaves no mean, and valid attempts need none", () => {
  const one = intentionToTreat([valid(1), failed("rejected")], { baseline: undefined, direction: "higher" });
  assert.deepEqual(one.mean, { kind: "none", why: "baseline-unknown" });
  assert.deepEqual(one.valid, { n: 1, mean: 1, interval: { kind: "none", why: "one-value" } });
  const two = intentionToTreat([valid(1), valid(3)], { baseline: undefined, direction: "higher" });
  assert.deepEqual(two.mean, { kind: "mean", value: 2 });
});

test("without measured attempts there is no mean; if all failed, it is the trivial baseline without an interval", () => {
  for (const attempts of [[], [missing, missing]]) {
    const result = intentionToTreat(attempts, { baseline: 0, direction: "higher" });
    assert.deepEqual(result.mean, { kind: "none", why: "nothing-measured" });
    assert.equal(result.measured, 0);
  }
  const all = intentionToTreat([failed("malformed"), failed("disqualified")], {
    baseline: 0.5,
    direction: "higher",
  });
  assert.deepEqual(all.mean, { kind: "mean", value: 0.5 });
  assert.deepEqual(all.valid, { n: 0, mean: undefined, interval: { kind: "none", why: "no-values" } });
});

test("an absurd valid score counts as the trivial baseline in every aggregate, in both directions", () => {
  for (const [direction, absurd, better] of [
    ["lower", 1.4e30, 2],
    ["higher", -1.4e30, 4],
  ] as const) {
    const result = intentionToTreat([valid(better), valid(absurd)], { baseline: 3, direction });
    assert.deepEqual(result.counted, [better, 3]);
    assert.deepEqual(result.mean, { kind: "mean", value: (better + 3) / 2 });
    assert.equal(result.valid.mean, (better + 3) / 2);
    const { interval } = result.valid;
    assert.ok(interval.kind === "interval" && interval.high - interval.low < 20);
  }
  assert.deepEqual(
    intentionToTreat([valid(1e30)], { baseline: undefined, direction: "lower" }).counted,
    [1e30],
  );
});

test("repeats of one observation have no interval", () => {
  const result = intentionToTreat([valid(0.5), valid(0.6)], {
    ...{ baseline: 0, direction: "higher", repeated: true },
  });
  assert.deepEqual(result.valid.interval, { kind: "none", why: "repeated" });
  assert.equal(result.passed, undefined);
});

test("one attempt and equal attempts have a mean and no interval", () => {
  assert.deepEqual(attemptsInterval([]), { kind: "none", why: "no-values" });
  assert.deepEqual(attemptsInterval([0.3]), { kind: "none", why: "one-value" });
  assert.deepEqual(attemptsInterval([0.3, 0.3, 0.3]), { kind: "none", why: "no-spread" });
  assert.deepEqual(attemptsInterval([1e200, -1e200]), { kind: "none", why: "out-of-range" });
});

test("an interval beyond the metric's range is cut and marked as cut", () => {
  // scipy 1.15.3: stats.t.interval gives 0.94641 to 1.01959
  const cut = attemptsInterval([0.97, 0.98, 0.999], [0, 1]);
  assert.ok(cut.kind === "interval");
  near(cut.low, 0.9464063664408571, 1e-12);
  assert.equal(cut.high, 1);
  assert.deepEqual(cut.cut, { low: false, high: true });
  const whole = attemptsInterval([0.97, 0.98, 0.999]);
  assert.ok(whole.kind === "interval");
  near(whole.high, 1.019593633559143, 1e-12);
  assert.deepEqual(whole.cut, { low: false, high: false });
  assert.throws(() => attemptsInterval([0.5, 1.1], [0, 1]), /bug: the value 1.1/);
});

test("a failure never raises a mean above the trivial baseline, and order does not matter", () => {
  const values = fc.array(fc.double({ min: 0.25, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(values, (some) => {
      const attempts = some.map(valid);
      const without = intentionToTreat(attempts, { baseline: 0.25, direction: "higher" });
      const more = intentionToTreat([...attempts, failed("disqualified")], {
        baseline: 0.25,
        direction: "higher",
      });
      const turned = intentionToTreat([failed("disqualified"), ...attempts.toReversed()], {
        baseline: 0.25,
        direction: "higher",
      });
      assert.ok(without.mean.kind === "mean" && more.mean.kind === "mean" && turned.mean.kind === "mean");
      assert.ok(more.mean.value <= without.mean.value + 1e-15);
      near(turned.mean.value, more.mean.value, 1e-15);
    }),
  );
});
