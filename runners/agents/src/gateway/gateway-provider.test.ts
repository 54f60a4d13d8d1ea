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
    ["claude-a", "claude-a2", "claude-b", "claude-b2"].map((id) => mayUse(anthropic!, id)),
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
