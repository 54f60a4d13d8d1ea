// Language-model agents against aimock, which speaks three protocols from descriptions that are not ours.
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { defineLlmAttempt, keyEnv, recorded } from "../support/attempts/llm-attempts.ts";
import { type Lab, lab } from "../support/lab.ts";
import { type AimockAnswer, aimockSoftware, startAimock } from "../support/providers/aimock.ts";
import { throwAwayRepository } from "../support/throw-away-repository.ts";

const software = await aimockSoftware();
const skip = software.skip || ((await bubblewrapMissing()) ?? false);
const repository = throwAwayRepository();
after(() => repository.remove());

const call = (name: string, input: object): AimockAnswer => ({ toolCalls: [{ name, arguments: input }] });
const script = [
  call("shell", { command: "cat TASK.md" }),
  call("shell", { command: "mkdir -p submission && echo trained > submission/model" }),
  call("note", { text: "submitted next" }),
  call("submit", {}),
];

async function attempt(at: Lab, t: TestContext, provider: string, chaos?: Record<string, number>) {
  const mock = await startAimock(software.path!, script, { ...(chaos && { chaos }) });
  t.after(() => mock.stop());
  const baseUrl = `${mock.url}/v1`;
  defineLlmAttempt(at, { baseUrl }, { provider, free: true, budget: { time: "120s" } });
  const said = await at.pipeline(["run", at.name, "--json", "--yes", "--root", at.root], { env: keyEnv });
  assert.equal(said.code, 0, said.stdout + said.stderr);
  return { mock, ...recorded(at) };
}

for (const [provider, path] of [
  ["loopback", "/v1/chat/completions"],
  ["openai", "/v1/responses"],
  ["anthropic", "/v1/messages"],
] as const)
  test(`an agent works through ${path} of aimock and its tokens are counted`, { skip }, async (t) => {
    const { mock, read, ledger } = await attempt(lab(t, repository), t, provider);
    assert.equal(read("submission/model"), "trained\n");
    assert.deepEqual([...new Set(mock.requests().map((one) => one.path))], [path]);
    assert.deepEqual([ledger.usage?.calls, ledger.usage?.failedTries, ledger.usage?.uncounted], [4, 0, 0]);
    assert.deepEqual([ledger.usage?.inputTokens, ledger.usage?.outputTokens], [400, 80]);
  });

for (const provider of ["loopback", "openai", "anthropic"])
  test(`errors, refusals for rate and broken streams of aimock cost ${provider} tries and no work`, {
    skip,
  }, async (t) => {
    const chaos = { dropRate: 0.25, rateLimitRate: 0.2, disconnectRate: 0.2 };
    const { read, ledger, events } = await attempt(lab(t, repository), t, provider, chaos);
    assert.equal(read("submission/model"), "trained\n");
    assert.equal(ledger.usage?.calls, 4, "no call that was answered is asked again");
    const tries = events.filter(({ event }) => event === "model-try");
    assert.equal(ledger.usage?.failedTries, tries.length);
    assert.ok(
      tries.every(({ whose }) => whose === "provider"),
      JSON.stringify(tries),
    );
  });
