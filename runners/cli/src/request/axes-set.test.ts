import assert from "node:assert/strict";
import { test } from "node:test";
import { axesSet } from "./axes-set.ts";
import { parseSet } from "./request.ts";

test("the values of several attempts are selected together", () => {
  const cards = [
    { axes: { task: "a", agent: "gpt-4.1", seed: 1 } },
    { axes: { task: "b", agent: "gpt-4.1", seed: 1 } },
  ];
  assert.deepEqual(parseSet(axesSet(cards)), { task: ["a", "b"], agent: ["gpt-4.1"], seed: ["1"] });
});
