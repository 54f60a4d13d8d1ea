import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bestOfK,
  betterThanOne,
  choiceTest,
  passAtK,
  passAtKInterval,
  performanceProfile,
  type Try,
} from "./best-of-k.ts";
import { seededRandom } from "./random.ts";
import { superiorityInterval } from "./significance/superiority-interval.ts";
import { near } from "./testing/near.ts";

test("pass@k is the share of k-subsets with a success", () => {
  for (let n = 1; n <= 7; n++)
    for (let c = 0; c <= n; c++)
      for (let k = 1; k <= n; k++) {
        let [all, passed] = [0, 0];
        for (let subset = 0; subset < 2 ** n; subset++) {
          const members = Array.from({ length: n }, (_, at) => at).filter((at) => subset & (1 << at));
          if (members.length !== k) continue;
          all++;
          if (members.some((member) => member < c)) passed++;
        }
        near(passAtK({ n, c, k }), passed / all, 1e-12);
      }
  assert.equal(passAtK({ n: 3, c: 1, k: 4 }), undefined);
  assert.throws(() => passAtK({ n: 3, c: 4, k: 1 }), /bug/);
});

test("the interval of pass@k covers it in at least 95 % of samples, for every rate", () => {
  let least = 1;
  for (const n of [3, 5, 10, 20])
    for (let rate = 0.01; rate < 1; rate += 0.02) {
      const covers = new Map([1, 2, 5].map((k) => [k, 0]));
      let ways = 1;
      for (let c = 0; c <= n; c++) {
        if (c > 0) ways *= (n - c + 1) / c;
        const probability = ways * rate ** c * (1 - rate) ** (n - c);
        for (const [k, sum] of covers) {
          const ends = passAtKInterval({ n, c, k });
          const truth = 1 - (1 - rate) ** k;
          if (!ends || (ends[0] <= truth && truth <= ends[1])) covers.set(k, sum + probability);
        }
      }
      least = Math.min(least, ...covers.values());
    }
  assert.ok(least >= 0.95, String(least));
  const [low, high] = passAtKInterval({ n: 5, c: 1, k: 5 })!;
  assert.ok(low < 0.5 && high === 1, "it holds the estimate, 1");
});

const valid = (value: number, dev?: number): Try => ({ result: { kind: "valid", value }, dev });
const failed: Try = { result: { kind: "failed", because: "no-submission" }, dev: undefined };
const missing: Try = { result: { kind: "missing" }, dev: undefined };
const rule = { k: 2, direction: "lower", seed: 1 } as const;

test("the best dev value is chosen, never the best test score", () => {
  const { groups, leftOut } = bestOfK([valid(9, 1), valid(1, 2), valid(3, 5), valid(4, 4), failed], rule);
  assert.equal(leftOut, 1);
  assert.deepEqual(
    groups.map(({ members, by, chosen }) => [members, by, chosen]),
    [
      [[0, 1], "dev", 0],
      [[2, 3], "dev", 3],
    ],
  );
  assert.deepEqual(groups[0]!.result, { kind: "valid", value: 9 });
  const rising = bestOfK([valid(9, 1), valid(1, 2)], { ...rule, direction: "higher" });
  assert.equal(rising.groups[0]!.chosen, 1);
});

test("an attempt without a dev value is chosen only where none of its group has one", () => {
  const [first, second, third] = bestOfK(
    [valid(1), valid(9, 3), failed, valid(5), failed, failed],
    rule,
  ).groups;
  assert.deepEqual([first!.by, first!.chosen], ["dev", 1]);
  assert.deepEqual([second!.by, second!.chosen], ["random", 3]);
  assert.deepEqual([third!.by, third!.chosen, third!.result], ["none", undefined, failed.result]);
});

test("a chosen attempt that broke a rule counts as failed", () => {
  const cheat: Try = { result: { kind: "failed", because: "disqualified" }, dev: 0 };
  assert.deepEqual(bestOfK([valid(1, 1), cheat], rule).groups[0]!.result, cheat.result);
});

test("a group with an attempt that the harness lost is missing, and moves no other group", () => {
  const many = [valid(1), valid(2), valid(3), valid(4)];
  const { groups } = bestOfK([missing, ...many.slice(1)], rule);
  assert.deepEqual([groups[0]!.by, groups[0]!.result], ["missing", { kind: "missing" }]);
  assert.deepEqual(groups[1], bestOfK(many, rule).groups[1]);
});

test("a random choice is even over groups", () => {
  const { groups } = bestOfK(
    Array.from({ length: 9000 }, () => valid(1)),
    { ...rule, k: 3 },
  );
  for (const place of [0, 1, 2])
    near(groups.filter(({ members, chosen }) => members[place] === chosen).length / 3000, 1 / 3, 0.03);
});

test("the test of a choice is exact: all choices, listed one by one", () => {
  const groups = [
    [1, 2, 2],
    [5, 5, 1],
    [0, 3, 9],
  ];
  const chosen = [1, 0, 2];
  const statistic = (choice: number[]) =>
    choiceTest(choice.map((at, group) => ({ values: groups[group]!, chosen: at })))!.statistic;
  const observed = statistic(chosen);
  let far = 0;
  for (const a of [0, 1, 2])
    for (const b of [0, 1, 2])
      for (const c of [0, 1, 2])
        if (Math.abs(statistic([a, b, c]) - 0.5) >= Math.abs(observed - 0.5) - 1e-12) far++;
  const found = choiceTest(chosen.map((at, group) => ({ values: groups[group]!, chosen: at })))!;
  near(found.p, far / 27, 1e-12);
  assert.equal(choiceTest([{ values: [1], chosen: 0 }]), undefined, "one attempt leaves no choice");
});

/** Attempts of which one in five is at the trivial baseline. The dev value is the test score and noise, or noise alone. */
function draws({ n, signal, seed }: { n: number; signal: number; seed: number }): Try[] {
  const random = seededRandom(seed);
  return Array.from({ length: n }, () => {
    if (random.fraction() < 0.2) return valid(0, random.normal());
    const value = 1 + random.normal();
    return valid(value, signal * value + random.normal());
  });
}

function improvement(tries: Try[], k: number) {
  const values = tries.map(({ result }) => (result.kind === "valid" ? result.value : null));
  const { groups } = bestOfK(tries, { k, direction: "higher", seed: 1 });
  const chosen = groups.map(({ members, chosen: at }) => ({ members, at: at! }));
  return {
    test: choiceTest(
      chosen.map(({ members, at }) => ({
        values: members.map((member) => values[member]!),
        chosen: members.indexOf(at),
      })),
    )!,
    better: betterThanOne(
      values,
      chosen.map(({ members, at }) => ({ members, value: values[at]! })),
    )!,
  };
}

test("a dev value that says nothing is called an improvement in at most 5 % of samples", () => {
  const samples = 2000;
  let claimed = 0;
  for (let seed = 0; seed < samples; seed++)
    if (improvement(draws({ n: 20, signal: 0, seed }), 2).test.p <= 0.05) claimed++;
  assert.ok(claimed / samples <= 0.06, String(claimed / samples));
  const found = Array.from({ length: 200 }, (_, seed) => improvement(draws({ n: 60, signal: 3, seed }), 2));
  assert.ok(found.filter(({ test: { p } }) => p <= 0.05).length > 150, "and one that says much is");
});

test("the interval of P(best of k is better) covers it in 95 % of samples or more", () => {
  for (const [signal, k, n] of [
    [0, 2, 6],
    [0, 5, 20],
    [1, 2, 6],
    [1, 2, 20],
    [3, 5, 20],
  ] as const) {
    const truth = improvement(draws({ n: 40_000, signal, seed: 7 }).slice(0, 4000), k).better.value;
    const samples = 600;
    let covered = 0;
    for (let seed = 0; seed < samples; seed++) {
      const { value, groups } = improvement(draws({ n, signal, seed }), k).better;
      const [low, high] = superiorityInterval([{ a: groups, b: groups }], value)!;
      if (low <= truth && truth <= high) covered++;
    }
    assert.ok(covered / samples > 0.94, `signal ${signal}, k ${k}, n ${n}: ${covered / samples}`);
  }
});

test("a group's own attempts are not among those that its choice is compared with", () => {
  const groups = [
    { members: [0, 1], value: 5 },
    { members: [2, 3], value: null },
  ];
  assert.deepEqual(betterThanOne([5, 9, 4, null], groups), { value: 1, groups: 1 });
  assert.equal(betterThanOne([5, 9], groups.slice(0, 1)), undefined);
});

test("a profile gives each task the same weight and falls from 1 to 0", () => {
  assert.deepEqual(performanceProfile([[0, 1], [0, 0, 0, 1], []]), [
    { above: 0, share: (0.5 + 0.25) / 2 },
    { above: 1, share: 0 },
  ]);
  assert.deepEqual(performanceProfile([[]]), []);
});
