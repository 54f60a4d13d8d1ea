import assert from "node:assert/strict";
import { test } from "node:test";
import { Example, passed, scored } from "../testing/example.ts";

/** The errors of one agent whose attempts have these items; `standardError` is each score's own. */
function errorsOf(attempts: { id: string; value: number }[][], standardError = 0.4) {
  const example = new Example();
  for (const [index, items] of attempts.entries()) {
    const axes = { task: "letters", agent: "plain", seed: index + 1 };
    const score = scored(
      "bits",
      items.map((item) => ({ ...item, weight: 1 })),
      standardError,
    );
    example
      .gives("attempt", axes, { submission: `sha256:${index}` })
      .gives("validate", axes, passed)
      .gives("score", { ...axes, scorer: "bits" }, score);
  }
  return example.report().cells[0]!.errors;
}

test("the spread of attempts and the error over items are separate, the second from all items together", () => {
  const items = (...values: number[]) => values.map((value, index) => ({ id: `d${index}`, value }));
  // What is hard for one attempt is easy for the other: their mean does not move with the items at all.
  const opposed = errorsOf([items(1, 2, 3), items(3, 2, 1)]);
  assert.deepEqual(opposed, { betweenAttempts: 0, overItems: 0, overItemsIs: "exact" });
  // Equal ones have the error of one: 1 / sqrt(3), whatever their number.
  const alike = errorsOf([items(1, 2, 3), items(2, 3, 4)]);
  assert.ok(Math.abs(alike.overItems! - 1 / Math.sqrt(3)) < 1e-12);
  assert.ok(Math.abs(alike.betweenAttempts! - Math.SQRT1_2) < 1e-12);
});

test("where items cannot be combined, the error over items is a bound and marked as one", () => {
  const one = [
    { id: "a", value: 1 },
    { id: "b", value: 3 },
  ];
  const other = one.map((item) => ({ ...item, id: `other ${item.id}` }));
  assert.deepEqual(errorsOf([one, other]), {
    betweenAttempts: 0,
    overItems: 0.4,
    overItemsIs: "at-most",
  });
  assert.deepEqual(errorsOf([one]), { betweenAttempts: null, overItems: 0.4, overItemsIs: "exact" });
  const single = [{ id: "a", value: 1 }];
  assert.deepEqual(errorsOf([single, single], 0), {
    betweenAttempts: 0,
    overItems: null,
    overItemsIs: null,
  });
});
