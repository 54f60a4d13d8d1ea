import assert from "node:assert/strict";
import { test } from "node:test";
import { checkpointShare } from "./checkpoint-share.ts";

test("a share of the budget is a percentage over 0 and under 100, and other values are undefined", () => {
  assert.deepEqual(["25%", "7.5%", "99%"].map(checkpointShare), [0.25, 0.075, 0.99]);
  for (const wrong of ["0%", "0.0%", "100%", "25", "half", 25, "-5%", "1e1%", "%"])
    assert.equal(checkpointShare(wrong), undefined, String(wrong));
});
