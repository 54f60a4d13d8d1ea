import assert from "node:assert/strict";
import { test } from "node:test";
import { extrapolated, readParts } from "./lm-eval.ts";

test("seconds of all items lie on the line through both samples, so configs count once", () => {
  const text = 'noise\nlm-eval: {"blimp": {"items": 10, "scorer": 3, "plain": 2}}\n';
  const { blimp: small } = readParts(text);
  assert.deepEqual(small, { items: 10, scorer: 3, plain: 2 });
  const parts = [small!, { items: 20, scorer: 4, plain: 4 }] as const;
  assert.equal(extrapolated("scorer", 100, parts), 12); // 2 s, and 0.1 s an item
  assert.equal(extrapolated("plain", 100, parts), 20);
});
