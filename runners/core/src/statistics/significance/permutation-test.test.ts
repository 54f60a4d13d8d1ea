import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { near } from "../testing/near.ts";
import { drawnTest } from "./drawn-test.ts";
import { latticeSum, twoSided } from "./lattice-sum.ts";
import { permutationTest, type TaskValues } from "./permutation-test.ts";
import { doubledU, rankSumDistribution } from "./rank-sum.ts";

const higher = (pairs: [number[], number[]][]): TaskValues[] =>
  pairs.map(([a, b], index) => ({ task: `task-${index}`, direction: "higher", a, b }));

function tested(tasks: TaskValues[]) {
  const result = permutationTest(tasks);
  assert.ok(result.kind === "tested");
  return result;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test("the critical values of U for two-sided 0.05 equal the printed tables", () => {
  // n = n': the largest U that is significant; Siegel and Castellan, Nonparametric Statistics, 1988
  for (const [n, critical] of [
    [4, 0],
    [5, 2],
    [6, 5],
    [7, 8],
    [8, 13],
    [9, 17],
    [10, 23],
    [12, 37],
    [15, 64],
    [20, 127],
  ] as const) {
    const distribution = rankSumDistribution(
      upTo(n),
      upTo(n).map((value) => value + 0.5),
    );
    assert.ok(twoSided(distribution, 2 * critical).p <= 0.05);
    assert.ok(twoSided(distribution, 2 * (critical + 1)).p > 0.05);
  }
});

test("one task agrees with SciPy's exact permutation test, ties and all", () => {
  // scipy 1.15.3: stats.permutation_test((a, b), superiority, permutation_type="independent", n_resamples=inf)
  for (const [a, b, superiority, p] of [
    [[0.25, 0.41, 0.38, 0.52, 0.25], [0.25, 0.25, 0.31, 0.29, 0.36], 0.68, 0.38095238095238093],
    [[1, 2, 3, 4, 5], [3, 6, 7, 8, 9], 0.1, 0.03968253968253968],
    [[0.25, 0.25, 0.25, 0.6, 0.7], [0.25, 0.25, 0.25, 0.25, 0.5], 0.64, 0.4444444444444444],
    // and stats.mannwhitneyu(a, b, method="exact") where there are none
    [[0, 1, 2, 3, 4], [0.5, 1.5, 2.5, 3.5, 4.5], 0.4, 0.6904761904761905],
  ] as const) {
    const result = tested(higher([[[...a], [...b]]]));
    near(result.statistic, superiority, 1e-15);
    near(result.p, p, 1e-14);
    assert.deepEqual(result.method, { kind: "exact" });
    assert.equal(result.tasks[0]!.p, result.p);
  }
});

test("three tasks of unequal sizes with ties agree with all 4200 labellings listed one by one", () => {
  // Python 3.10: itertools.product over itertools.combinations with fractions.Fraction; 2832 are as far
  // from 1/2 as 61/108, or farther, and 3 as far as can be
  const result = tested(
    higher([
      [
        [0.25, 0.6, 0.7],
        [0.25, 0.25, 0.5],
      ],
      [
        [3, 1, 2, 2],
        [2, 5, 4],
      ],
      [
        [1, 1],
        [0, 1],
      ],
    ]),
  );
  near(result.statistic, 61 / 108, 1e-15);
  near(result.p, 2832 / 4200, 1e-14);
  near(result.pMin, 3 / 4200, 1e-16);
});

test("no labelling of 5 against 5 has a p under 2/252, and 7 such tasks one under 2/252⁷", () => {
  const best = () => [upTo(5).map((each) => each + 10), upTo(5)] as [number[], number[]];
  const one = tested(higher([best()]));
  near(one.p, 2 / 252, 1e-17);
  assert.equal(one.p, one.pMin);
  const seven = tested(higher(upTo(7).map(best)));
  near(seven.p, 2 / 252 ** 7, 1e-12 / 252 ** 7);
  assert.equal(seven.statistic, 1);
});

test("if every value is tied, p and the smallest p are 1", () => {
  const result = tested(
    higher([
      [
        [0.25, 0.25, 0.25],
        [0.25, 0.25],
      ],
    ]),
  );
  assert.deepEqual([result.statistic, result.p, result.pMin], [0.5, 1, 1]);
});

test("for a metric where lower is better the lower values win", () => {
  const values = { task: "bits", a: [1, 2, 3], b: [4, 5, 6] };
  assert.equal(tested([{ ...values, direction: "lower" }]).statistic, 1);
  assert.equal(tested([{ ...values, direction: "higher" }]).statistic, 0);
  const uneven = tested([{ task: "bits", direction: "lower", a: [1, 0], b: [4, 5, -0] }]);
  assert.deepEqual(uneven.tasks[0]!.attempts, { a: 2, b: 3 });
  near(uneven.statistic, 4.5 / 6, 1e-15);
});

test("a task without values of an agent is named and left out", () => {
  const [one, two] = higher([
    [
      [1, 2],
      [3, 4],
    ],
    [[1], []],
  ]);
  const result = tested([one!, two!]);
  assert.deepEqual(result.without, ["task-1"]);
  assert.equal(result.p, tested([one!]).p);
  assert.deepEqual(permutationTest([two!]), { kind: "untestable", without: ["task-1"] });
  assert.throws(() => permutationTest([one!, one!]), /bug: a task appears twice/);
  assert.throws(() => permutationTest(higher([[[Number.NaN], [1]]])), /bug: value at task-0 0/);
});

const value = fc.integer({ min: 0, max: 5 }).map((each) => each / 4); // few different ones: many ties
const side = fc.array(value, { minLength: 1, maxLength: 5 });
const someTasks = fc
  .array(fc.tuple(side, side), { minLength: 1, maxLength: 4 })
  .map((pairs) => higher(pairs));

test("the statistic equals a count of pairs, and p is between the smallest p and 1", () => {
  fc.assert(
    fc.property(someTasks, (tasks) => {
      const { statistic, p, pMin } = tested(tasks);
      const shares = tasks.map(({ a, b }) => doubledU(a, b) / (2 * a.length * b.length));
      near(statistic, shares.reduce((sum, share) => sum + share, 0) / shares.length, 1e-14);
      assert.ok(pMin > 0 && p >= pMin && p <= 1);
    }),
  );
});

test("swapping the agents mirrors the statistic and keeps p", () => {
  fc.assert(
    fc.property(someTasks, (tasks) => {
      const there = tested(tasks);
      const back = tested(tasks.map((each) => ({ ...each, a: each.b, b: each.a })));
      near(back.statistic, 1 - there.statistic, 1e-14);
      near(back.p, there.p, 1e-13);
      near(back.pMin, there.pMin, 1e-13);
    }),
  );
});

test("neither the order of values or tasks nor a monotone change of scale matters", () => {
  fc.assert(
    fc.property(someTasks, (tasks) => {
      const there = tested(tasks);
      const turned = tested(
        tasks.map((each) => ({ ...each, a: each.a.toReversed(), b: each.b.toReversed() })).reverse(),
      );
      const rescaled = tested(
        tasks.map((each) => ({
          ...each,
          a: each.a.map((x) => Math.exp(x) + 3),
          b: each.b.map((x) => Math.exp(x) + 3),
        })),
      );
      for (const other of [turned, rescaled]) {
        near(other.statistic, there.statistic, 1e-14);
        near(other.p, there.p, 1e-13);
      }
    }),
  );
});

test("the counted distribution adds up to 1 around half of all pairs", () => {
  fc.assert(
    fc.property(side, side, (a, b) => {
      const distribution = rankSumDistribution(a, b);
      let [sum, centre] = [0, 0];
      for (const [u, probability] of distribution.entries()) {
        sum += probability;
        centre += u * probability;
      }
      near(sum, 1, 1e-14);
      near(centre, a.length * b.length, 1e-12);
    }),
  );
});

test("the distribution of a sum of dice is correct", () => {
  const die = { probabilities: new Float64Array(6).fill(1 / 6), step: 1 };
  const two = latticeSum([die, die]);
  near(two[5], 6 / 36, 1e-16);
  near(latticeSum([die, { ...die, step: 10 }])[35], 1 / 36, 1e-16);
  near(twoSided(two, 1).p, 6 / 36, 1e-15);
  near(twoSided(two, 1).pMin, 2 / 36, 1e-15);
  near(twoSided(two, 4).p, 30 / 36, 1e-15);
  assert.equal(twoSided(two, 5).p, 1);
});

const uneven = higher(
  upTo(7).map((task) => {
    const count = 20 - (task % 4);
    const values = (from: number, size: number) =>
      upTo(size).map((index) => ((index * 7 + task) % 23) + from);
    return [values(1.5, count), values(0, 20 - (task % 3))];
  }),
);

test("drawn labels agree with counting within four standard errors", () => {
  const tasks = higher([
    [
      [1, 2, 5, 7, 7],
      [0, 1, 2, 3, 4],
    ],
    [
      [3, 4, 4, 9],
      [1, 4, 5, 2, 2],
    ],
  ]);
  const exact = tested(tasks);
  const drawn = drawnTest(tasks, { seed: 5, permutations: 50_000 });
  near(drawn.superiority, exact.statistic, 1e-14);
  near(drawn.p, exact.p, 4 * drawn.method.standardError);
  assert.ok(drawn.method.standardError < 0.002);
});

test("many attempts in different numbers are drawn, marked as drawn, and reproducible", () => {
  const result = tested(uneven);
  assert.ok(result.method.kind === "drawn");
  assert.equal(result.method.seed, 1);
  assert.equal(result.pMin, 1 / (result.method.permutations + 1));
  assert.ok(result.p >= result.pMin);
  assert.ok(result.tasks.every(({ method }) => method.kind === "exact"));
  assert.deepEqual(tested(uneven), result);
  const other = permutationTest(uneven, { seed: 2, permutations: 999 });
  assert.ok(other.kind === "tested" && other.method.kind === "drawn");
  assert.notEqual(other.p, result.p);
  near(other.p, result.p, 4 * other.method.standardError + 1 / 999);
});

test("a drawn p is never 0", () => {
  const result = drawnTest([{ a: upTo(20).map((each) => each + 50), b: upTo(20) }], {
    seed: 1,
    permutations: 99,
  });
  assert.equal(result.p, 0.01);
  assert.throws(() => drawnTest([], { seed: 1, permutations: 0 }), /bug/);
});
