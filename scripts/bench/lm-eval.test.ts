import assert from "node:assert/strict";
import { test } from "node:test";
import { extrapolated, readParts, sharedFloor } from "./lm-eval.ts";

test("seconds of all items lie on the line through both samples, so configs count once", () => {
  const text = 'noise\nlm-eval: {"blimp": {"items": 10, "scorer": 3, "plain": 2}}\n';
  const { blimp: small } = readParts(text);
  assert.deepEqual(small, { items: 10, scorer: 3, plain: 2 });
  const parts = [small!, { ...small!, items: 20, scorer: 4, plain: 4 }] as const;
  assert.equal(extrapolated("scorer", 100, parts), 12); // 2 s, and 0.1 s an item
  assert.equal(extrapolated("plain", 100, parts), 20);
});

test("the lower bound of shared scores leaves out loading and the tokens that rows share", () => {
  const small = { items: 10, scorer: 30, plain: 0, load: 2, forward: 20, tokens: 100, distinct: 75 };
  const large = { ...small, items: 20, scorer: 50, forward: 40 };
  assert.equal(sharedFloor(30, [small, large]), 70 - 60 / 4 - 2);
});
