import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { lowerTail } from "../normal.ts";
import { seededRandom } from "../random.ts";
import { near } from "../testing/near.ts";
import { signFlipTest } from "./sign-flip-test.ts";

/** Crossed minus self-fertilised plants in eighths of an inch: Darwin's, in Fisher (1935), section 17. */
const darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];

test("for Darwin's plants 1726 of 32768 signs give a sum as far from zero, as Fisher counted", () => {
  // Fisher: 863 of 32768 at either end; scipy 1.15.3: stats.permutation_test(…, permutation_type="samples")
  const result = signFlipTest(darwin)!;
  assert.equal(result.p, 1726 / 32768);
  assert.equal(result.pMin, 2 / 32768);
});

test("a difference of zero changes nothing, and only zeros give p = 1", () => {
  assert.equal(signFlipTest([0.1, 0.2, 0.3, -0.1, 0.4])!.p, 0.1875); // SciPy, as above, with a zero among them
  assert.deepEqual(signFlipTest([0.1, 0, 0.2, 0.3, 0, -0.1, 0.4]), signFlipTest([0.1, 0.2, 0.3, -0.1, 0.4]));
  assert.deepEqual(signFlipTest([0, 0]), { p: 1, pMin: 1, method: { kind: "exact" } });
  assert.equal(signFlipTest([]), undefined);
  assert.throws(() => signFlipTest([Number.NaN]), /bug/);
});

test("listing all signs gives the same p, also for sums that differ only by rounding", () => {
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

test("with more than 40 pairs signs are drawn, and p is near the exact p", () => {
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
  near(exact.p, 2 * lowerTail(-z), 0.01);
});
