// Tests of pairs: sign flips, McNemar, the paired bootstrap.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { normalCdf } from "../normal.ts";
import { pairedBootstrap } from "../paired-bootstrap.ts";
import { pairedDifference } from "../paired-difference.ts";
import { seededRandom } from "../random.ts";
import type { Item } from "../ratio-estimate.ts";
import { near } from "../testing/near.ts";
import { mcNemarTest } from "./mcnemar-test.ts";
import { signFlipTest } from "./sign-flip-test.ts";

/** Crossed minus self-fertilised plants in eighths of an inch: Darwin's, in Fisher (1935), section 17. */
const darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];

test("of Darwin's plants 1726 of 32768 signs give a sum as far from zero, as Fisher counted", () => {
  // Fisher: 863 of 32768 at either end; scipy 1.15.3: stats.permutation_test(…, permutation_type="samples")
  const result = signFlipTest(darwin)!;
  assert.equal(result.p, 1726 / 32768);
  assert.equal(result.pMin, 2 / 32768);
});

test("a difference of zero changes nothing, and nothing but zeros can show nothing", () => {
  assert.equal(signFlipTest([0.1, 0.2, 0.3, -0.1, 0.4])!.p, 0.1875); // SciPy, as above, with a zero among them
  assert.deepEqual(signFlipTest([0.1, 0, 0.2, 0.3, 0, -0.1, 0.4]), signFlipTest([0.1, 0.2, 0.3, -0.1, 0.4]));
  assert.deepEqual(signFlipTest([0, 0]), { p: 1, pMin: 1, method: { kind: "exact" } });
  assert.equal(signFlipTest([]), undefined);
  assert.throws(() => signFlipTest([Number.NaN]), /bug/);
});

test("signs that are listed one by one give the same p, also where sums are equal only on paper", () => {
  const differences = fc.array(
    fc.integer({ min: -4, max: 4 }).map((each) => each / 10),
    { minLength: 1, maxLength: 9 },
  );
  fc.assert(
    fc.property(differences, (some) => {
      const tenths = some.map((each) => Math.round(each * 10));
      const observed = Math.abs(tenths.reduce((sum, each) => sum + each, 0));
      let asFar = 0;
      for (let signs = 0; signs < 2 ** some.length; signs++) {
        const sum = tenths.reduce((total, each, index) => total + ((signs >> index) & 1 ? each : -each), 0);
        if (Math.abs(sum) >= observed) asFar++;
      }
      near(signFlipTest(some)!.p, asFar / 2 ** some.length, 1e-15);
      near(signFlipTest(some.map((each) => -each).reverse())!.p, asFar / 2 ** some.length, 1e-15);
    }),
  );
});

test("more than 40 pairs are drawn, told so, and near the exact p of 40 that matter", () => {
  const random = seededRandom(10);
  const forty = Array.from({ length: 40 }, () => random.normal() + 0.2);
  const exact = signFlipTest(forty)!;
  assert.deepEqual(exact.method, { kind: "exact" });
  const drawn = signFlipTest([...forty, 1e-6])!;
  assert.ok(drawn.method.kind === "drawn" && drawn.method.permutations === 99_999);
  assert.ok(exact.p > 0.005 && exact.p < 0.5);
  near(drawn.p, exact.p, 4 * drawn.method.standardError);
  assert.deepEqual(signFlipTest([...forty, 1e-6]), drawn);
  const z = Math.abs(forty.reduce((sum, each) => sum + each, 0)) / Math.hypot(...forty);
  near(exact.p, 2 * normalCdf(-z), 0.01);
});

const items = (values: number[], groups?: string[]): Item[] =>
  values.map((value, index) => ({
    id: `i${index}`,
    value,
    weight: 1,
    ...(groups ? { group: groups[index]! } : {}),
  }));

/** Two sides with these disagreements and `both` items that both get right. */
function sides(onlyA: number, onlyB: number, both = 3): [Item[], Item[]] {
  const right = (from: number, to: number) =>
    items(Array.from({ length: onlyA + onlyB + both }, (_, i) => (i >= from && i < to ? 1 : 0)));
  const all = onlyA + onlyB + both;
  return [
    right(0, all).map((item, index) => ({ ...item, value: index >= onlyA && index < onlyA + onlyB ? 0 : 1 })),
    right(onlyA, all),
  ];
}

test("McNemar's exact p of 1 against 7 is 0.0703, as printed, and of others SciPy's", () => {
  // 1 and 7: Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13, 2013 (p = 0.070);
  // scipy 1.15.3: stats.binomtest(min(b, c), b + c).pvalue
  for (const [onlyA, onlyB, expected] of [
    [1, 7, 0.0703125],
    [59, 6, 4.964650327128616e-12],
    [410, 480, 0.020677102375914056],
    [3000, 3300, 0.00016475607669748352],
    [5, 5, 1],
    [0, 0, 1],
  ] as const) {
    const result = mcNemarTest(...sides(onlyA, onlyB));
    assert.ok(result.kind === "tested");
    assert.deepEqual([result.onlyA, result.onlyB], [onlyA, onlyB]);
    near(result.p, expected, 1e-10 * expected);
    const [a, b] = sides(onlyA, onlyB);
    const back = mcNemarTest(b, a.toReversed());
    assert.ok(back.kind === "tested" && back.p === result.p && back.onlyA === onlyB);
  }
});

test("items that are half right, or not the same, have no McNemar test", () => {
  const half = mcNemarTest(items([1, 0.5]), items([1, 0]));
  assert.deepEqual(half, { kind: "unpaired", why: "the item i1 is neither right nor wrong" });
  assert.equal(mcNemarTest(items([1, 0]), items([1])).kind, "unpaired");
  assert.equal(pairedBootstrap(items([1, 0]), items([1])).kind, "unpaired");
});

test("over many items the bootstrap's interval is that of the paired standard error", () => {
  const random = seededRandom(4);
  const a = items(Array.from({ length: 400 }, () => random.normal() + 0.3));
  const b = items(a.map(({ value }) => value - 0.3 + 0.5 * random.normal()));
  const bootstrap = pairedBootstrap(a, b, { resamples: 3999 });
  const paired = pairedDifference([{ a, b }]);
  assert.ok(bootstrap.kind === "interval" && paired.kind === "difference");
  assert.equal(bootstrap.value, paired.value);
  const error = paired.standardError!;
  near(bootstrap.low, paired.value - 1.96 * error, 0.12 * error);
  near(bootstrap.high, paired.value + 1.96 * error, 0.12 * error);
  assert.deepEqual([bootstrap.units, bootstrap.of], [400, "items"]);
});

test("clusters are drawn whole: items that repeat each other add no certainty", () => {
  const random = seededRandom(5);
  const values = Array.from({ length: 40 }, () => random.normal());
  const zero = (many: Item[]) => many.map((item) => ({ ...item, value: 0 }));
  const once = items(
    values,
    values.map((_, index) => `g${index}`),
  );
  const again = items(
    [...values, ...values],
    [...values, ...values].map((_, index) => `g${index % 40}`),
  );
  const width = (many: Item[]) => {
    const result = pairedBootstrap(many, zero(many), { resamples: 999 });
    assert.ok(result.kind === "interval" && result.of === "clusters" && result.units === 40);
    return result.high - result.low;
  };
  near(width(again), width(once), 1e-12);
});

test("the bootstrap is told again by its seed, mirrored by swapped sides and blind to the items' order", () => {
  const random = seededRandom(6);
  const a = items(Array.from({ length: 30 }, () => random.normal()));
  const b = items(Array.from({ length: 30 }, () => random.normal()));
  const there = pairedBootstrap(a, b, { seed: 2, resamples: 199 });
  const back = pairedBootstrap(b, a, { seed: 2, resamples: 199 });
  assert.ok(there.kind === "interval" && back.kind === "interval");
  assert.deepEqual([back.low, back.high], [-there.high, -there.low]);
  const turned = pairedBootstrap(a.toReversed(), b, { seed: 2, resamples: 199 });
  assert.ok(turned.kind === "interval");
  assert.deepEqual([turned.low, turned.high], [there.low, there.high]);
  assert.notDeepEqual(pairedBootstrap(a, b, { seed: 3, resamples: 199 }), there);
  assert.equal(pairedBootstrap(items([1]), items([0])).kind, "unpaired");
  assert.throws(() => pairedBootstrap(a, b, { resamples: 38 }), /bug/);
});
