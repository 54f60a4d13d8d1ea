import assert from "node:assert/strict";
import { test } from "node:test";
import { familyOf } from "./model-family.ts";

const families: [provider: string, id: string, family: string][] = [
  ["openai", "gpt-4o-2024-08-06", "gpt"],
  ["openai", "o3-mini", "gpt"],
  ["azure", "o1", "gpt"],
  ["openai", "chatgpt-4o-latest", "gpt"],
  ["openai", "ft:gpt-4o-mini-2024-07-18:org::id", "gpt"],
  ["anthropic", "claude-3-5-sonnet-20241022", "claude"],
  ["openrouter", "anthropic/claude-3.5-sonnet", "claude"],
  ["bedrock", "us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude"],
  ["bedrock", "meta.llama3-1-70b-instruct-v1:0", "llama"],
  ["together", "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo", "llama"],
  ["fireworks", "accounts/fireworks/models/llama-v3p1-8b-instruct", "llama"],
  ["google", "gemini-2.5-pro", "gemini"],
  ["google", "models/gemini-2.5-pro", "gemini"],
  ["ollama", "qwen2.5-coder:7b", "qwen"],
  ["vllm", "Qwen/Qwen2.5-7B-Instruct", "qwen"],
  ["ollama", "gpt-oss:20b", "gpt"],
  ["vllm", "google/gemma-3-27b-it", "gemma"],
  ["openrouter", "mistralai/mixtral-8x7b-instruct", "mistral"],
  ["mistral", "codestral-2501", "mistral"],
  ["ollama", "qwq:32b", "qwen"],
  ["ollama", "codellama:7b", "llama"],
  ["recorded", "7b", "recorded"],
];

test("a name of no known family is of an unknown one, unless it is stated", () => {
  for (const id of ["prod-4", "7b", "own/judge", "gptoss", "x"])
    for (const provider of ["azure", "mine"]) {
      assert.equal(familyOf({ provider, id }), undefined);
      assert.equal(familyOf({ provider, id, family: "gpt" }), "gpt");
    }
});

for (const [provider, id, family] of families)
  test(`${provider} ${id} is of the family ${family}`, () =>
    assert.equal(familyOf({ provider, id }), family));
