import assert from "node:assert/strict";
import { test } from "node:test";
import { poolSize, poolsTaken } from "./pool-size.ts";

const pools = { "api:openai": 2, "api:*": 4, "api:open*": 3, licences: 1 };

test("a pool has its own size, else that of the longest prefix, else none", () => {
  assert.deepEqual(
    ["api:openai", "api:openrouter", "api:anthropic", "licences", "gpu"].map((name) => poolSize(pools, name)),
    [2, 3, 4, 1, undefined],
  );
});

test("two providers that share a prefix have a pool each", () => {
  assert.deepEqual(poolsTaken(pools, [{ pools: { "api:anthropic": 1 } }, { pools: { "api:vllm": 1 } }]), {
    ...{ "api:openai": 2, licences: 1 },
    ...{ "api:anthropic": 4, "api:vllm": 4 },
  });
});
