import assert from "node:assert/strict";
import { test } from "node:test";
import { randomOfState, seededRandom } from "./random.ts";
import { near } from "./testing/near.ts";

test("from the state 1 2 3 4 come the numbers of the authors' xoshiro128**", () => {
  // as in the tests of rand_xoshiro, made with xoshiro128starstar.c 1.1
  const random = randomOfState([1, 2, 3, 4]);
  assert.deepEqual(
    Array.from({ length: 10 }, () => random.bits32()),
    [11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804],
  );
});

test("a seed gives the same numbers again and another seed others", () => {
  const numbers = (seed: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: 5 }, () => random.bits32());
  };
  assert.deepEqual(numbers(7), numbers(7));
  assert.notDeepEqual(numbers(7), numbers(8));
  assert.equal(new Set([0, 1, 2, 2 ** 32 - 1].flatMap(numbers)).size, 20);
});

test("integers are uniform, fractions are under 1, normal values have mean 0 and deviation 1", () => {
  const random = seededRandom(3);
  const draws = 60_000;
  const counts = [0, 0, 0, 0, 0, 0];
  let [fractions, sum, squares] = [0, 0, 0];
  for (let draw = 0; draw < draws; draw++) {
    counts[random.integer(6)]!++;
    const fraction = random.fraction();
    assert.ok(fraction >= 0 && fraction < 1);
    fractions += fraction;
    const normal = random.normal();
    sum += normal;
    squares += normal * normal;
  }
  // chi-squared of 5 degrees of freedom: under 20.5 in 999 of 1000 seeds
  const expected = draws / 6;
  assert.ok(counts.reduce((chi, count) => chi + (count - expected) ** 2 / expected, 0) < 20.5);
  near(fractions / draws, 0.5, 4 / Math.sqrt(12 * draws));
  near(sum / draws, 0, 4 / Math.sqrt(draws));
  near(squares / draws, 1, 4 * Math.sqrt(2 / draws));
});

test("invalid seeds and ranges are refused", () => {
  for (const seed of [-1, 0.5, 2 ** 32, Number.NaN]) assert.throws(() => seededRandom(seed), /bug/);
  assert.throws(() => randomOfState([0, 0, 0, 0]), /bug/);
  for (const below of [0, 1.5, 2 ** 21 + 1]) assert.throws(() => seededRandom(1).integer(below), /bug/);
});
