import assert from "node:assert/strict";
import { test } from "node:test";
import { grown } from "./short.ts";

test("a ratio that grew by more than half is named, as is one that was never stored", () => {
  const stored = { plan: 10, edit: 10 };
  assert.deepEqual(grown({ plan: 15, edit: 15.1, more: 2 }, stored), [
    "edit: 15.10, over 1.5 × 10",
    "more: 2.00, and ratios.json has none",
  ]);
});
