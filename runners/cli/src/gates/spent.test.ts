import assert from "node:assert/strict";
import { test } from "node:test";
import { type Attempted, spent, spentWords } from "./spent.ts";

const hour = 3_600_000;

/** An attempt that was estimated from three earlier ones, and took what it was estimated to. */
function attempt(changed: {
  estimate?: Partial<Attempted["estimate"]>;
  cost?: Attempted["cost"];
}): Attempted {
  return {
    cost: { gpuHours: 24, dollars: 40 },
    durationMs: 24 * hour,
    ...changed,
    estimate: { gpuHours: 24, dollars: 40, timeMs: 24 * hour, from: 3, ...changed.estimate },
  };
}

const words = (...attempts: Attempted[]) => spentWords(spent(attempts)!);

test("the cost of attempts is shown with its estimate and the error in percent", () => {
  assert.equal(
    words(
      attempt({ cost: { gpuHours: 23.1, dollars: 46.1 } }),
      attempt({ cost: { gpuHours: 24, dollars: 40.1 } }),
    ),
    "2 attempts took 47.1 GPU hours (estimated 48.0 from 3 earlier attempts: 2 % less) and 86.20 dollars (estimated 80.00 from 3 earlier attempts: 8 % more)",
  );
  assert.equal(
    words(attempt({ estimate: { dollars: 0 }, cost: { gpuHours: 24.05, dollars: 0 } })),
    "1 attempt took 24.1 GPU hours (estimated 24.0 from 3 earlier attempts: as estimated)",
  );
});

test("an estimate by budget is shown as an upper bound", () => {
  const gpu = (from: number) =>
    attempt({ estimate: { from, dollars: 0 }, cost: { gpuHours: 6, dollars: null } });
  assert.equal(words(gpu(0)), "1 attempt took 6.0 GPU hours (at most 24.0 by budget: 75 % less)");
  assert.equal(
    words(gpu(0), gpu(3)),
    "2 attempts took 12.0 GPU hours (at most 48.0, from up to 3 earlier attempts and by budget: 75 % less)",
  );
  assert.match(words(gpu(1), gpu(4))!, /estimated 48\.0 from 1 to 4 earlier attempts: 75 % less/);
});

test("one unknown amount makes a sum unknown, in the estimate and in the cost", () => {
  const known = attempt({ estimate: { gpuHours: 0 }, cost: { gpuHours: 0, dollars: 43 } });
  const priceless = attempt({ estimate: { gpuHours: 0 }, cost: { gpuHours: 0, dollars: null } });
  assert.equal(
    words(known, priceless),
    "2 attempts took an unknown number of dollars (estimated 80.00 from 3 earlier attempts)",
  );
  const first = attempt({
    estimate: { gpuHours: 0, dollars: null, from: 0 },
    cost: { gpuHours: 0, dollars: 43 },
  });
  assert.equal(words(first), "1 attempt took 43.00 dollars (no estimate)");
  assert.deepEqual(spent([known, priceless])!.dollars, { estimated: 80, actual: null });
  assert.deepEqual(spent([known, first])!.dollars, { estimated: null, actual: 86 });
});

test("nothing is shown if cost and estimate are 0, and an unexpected cost is", () => {
  const free = { estimate: { gpuHours: 0, dollars: 0 }, cost: { gpuHours: 0, dollars: null } };
  assert.equal(words(attempt(free), attempt({ ...free, cost: null })), undefined);
  assert.equal(spent([]), undefined);
  assert.equal(
    words(attempt({ ...free, cost: { gpuHours: 0, dollars: 2 } })),
    "1 attempt took 2.00 dollars (estimated 0.00 from 3 earlier attempts)",
  );
});

test("an amount that was expected to be 0 and is not has no upper bound", () => {
  const cost = { gpuHours: 0, dollars: 0.66 };
  const unasked = (from: number) => attempt({ estimate: { gpuHours: 0, dollars: 0, from }, cost });
  assert.equal(words(unasked(0)), "1 attempt took 0.66 dollars (no estimate)");
  assert.equal(words(unasked(0), unasked(3)), "2 attempts took 1.32 dollars (no estimate)");
});

test("attempts without a record are counted separately and not compared", () => {
  assert.equal(
    words(attempt({ cost: null }), attempt({ estimate: { dollars: 0 }, cost: { gpuHours: 24, dollars: 0 } })),
    "1 attempt took 24.0 GPU hours (estimated 24.0 from 3 earlier attempts: as estimated); the cost of 1 attempt that did not finish is unknown",
  );
  assert.equal(
    words(attempt({ cost: null }), attempt({ cost: null })),
    "the cost of 2 attempts that did not finish is unknown",
  );
});

test("the sums contain time", () => {
  const { timeMs, attempts, unrecorded, from } = spent([attempt({}), attempt({ cost: null })])!;
  assert.deepEqual(timeMs, { estimated: 24 * hour, actual: 24 * hour });
  assert.deepEqual(
    { attempts, unrecorded, from },
    { attempts: 1, unrecorded: 1, from: { least: 3, most: 3 } },
  );
});
