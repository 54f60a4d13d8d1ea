import assert from "node:assert/strict";
import { test } from "node:test";
import { modelAddresses } from "./agent-models.ts";

test("the addresses of an attempt are its models', each with its own key", () => {
  const planner = { provider: "own", id: "p", contextTokens: 9000, baseUrl: "http://127.0.0.1:8000/v1" };
  const model = { id: "m", contextTokens: 9000, key: "OPENAI_API_KEY" };
  assert.deepEqual(modelAddresses({ kind: "llm", provider: "openai", model, planner }), [
    { address: "https://api.openai.com/v1", secret: "OPENAI_API_KEY" },
    { address: "http://127.0.0.1:8000/v1" },
  ]);
  const gateway = [{ provider: "anthropic", key: "A_KEY", ids: ["claude-*"] }];
  assert.deepEqual(modelAddresses({ kind: "command", command: ["x"], gateway }), [
    { address: "https://api.anthropic.com/v1", secret: "A_KEY" },
  ]);
});

test("a service of the run is an address, and the text of no address is none", () => {
  const at = (baseUrl: string) =>
    modelAddresses({ kind: "llm", provider: "own", model: { id: "m", key: "A_KEY", baseUrl } });
  const service = "{services.model.url}/v1";
  assert.deepEqual(at(service), [{ address: service, secret: "A_KEY" }]);
  assert.deepEqual(at("no address"), []);
});

test("an agent without a model, and a stage without an agent, have none", () => {
  assert.deepEqual(modelAddresses({ kind: "nop" }), []);
  assert.deepEqual(modelAddresses({ task: "x" }), []);
});
