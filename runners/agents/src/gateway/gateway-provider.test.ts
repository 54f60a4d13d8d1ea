import assert from "node:assert/strict";
import { test } from "node:test";
import { gatewayFacts, gatewayProviders, mayUse } from "./gateway-provider.ts";

const env = { KEY: "real" };

test("a known provider needs no address, and a local one no key", () => {
  const [anthropic, vllm] = gatewayProviders(
    [
      { provider: "anthropic", key: "KEY", ids: ["claude-a", "claude-b*"] },
      { provider: "vllm", baseUrl: "http://127.0.0.1:8000/v1/", ids: ["m"], free: true },
    ],
    env,
  );
  assert.deepEqual(anthropic, {
    ...{ name: "anthropic", protocol: "anthropic", baseUrl: "https://api.anthropic.com/v1" },
    ...{ key: "real", keyName: "KEY", ids: ["claude-a", "claude-b*"], free: false },
  });
  assert.deepEqual(vllm, {
    ...{ name: "vllm", protocol: "openai", baseUrl: "http://127.0.0.1:8000/v1", ids: ["m"], free: true },
  });
  assert.deepEqual(
    ["claude-a", "claude-a2", "claude-b", "claude-b2"].map((id) =>
      mayUse(anthropic!, id, { network: false }),
    ),
    [true, false, true, true],
  );
  assert.ok(!JSON.stringify(gatewayFacts([anthropic!])).includes("real"));
});

const wrong: [entries: Parameters<typeof gatewayProviders>[0], says: RegExp][] = [
  [[{ provider: "vllm", ids: ["m"] }], /provider vllm: write its `baseUrl`/],
  [[{ provider: "constructor", ids: ["m"] }], /provider constructor: write its `baseUrl`/],
  [[{ provider: "openai", key: "NOT_SET", ids: ["m"] }], /NOT_SET is not set.*export it.*`secrets`/],
  [
    [
      { provider: "openai", ids: ["m"] },
      { provider: "openai", ids: ["n"] },
    ],
    /names the provider openai twice/,
  ],
];

test("a wrong entry is refused with a way out", () => {
  for (const [entries, says] of wrong) assert.throws(() => gatewayProviders(entries, env), says);
});

test("a prefix matches models that may search only with a network; a whole id always does", () => {
  const searching = [
    ...["gpt-4o-search-preview", "gpt-5-Search-api", "o4-mini-deep-research", "vendor/small:online"],
    ...["vendor/small:nitro", "pplx-7b-online"],
  ];
  for (const model of searching) {
    for (const id of ["*", `${model.slice(0, 2)}*`]) {
      assert.equal(mayUse({ ids: [id] }, model, { network: false }), false, `${id} ${model}`);
      assert.equal(mayUse({ ids: [id] }, model, { network: true }), true, `${id} ${model}`);
    }
    assert.equal(mayUse({ ids: ["x*", model] }, model, { network: false }), true, model);
  }
  assert.equal(mayUse({ ids: ["gpt-4o-search-*"] }, "gpt-4o-search-preview", { network: false }), false);
  for (const [id, model] of [
    ["gpt-4o*", "gpt-4o-mini"],
    ["NousResearch/*", "NousResearch/Hermes-3"],
    ["qwen3:*", "qwen3:8b"],
  ] as const)
    assert.equal(mayUse({ ids: [id] }, model, { network: false }), true, model);
});
