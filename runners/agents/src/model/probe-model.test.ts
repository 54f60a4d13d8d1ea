import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  type LoopbackProvider,
  type Reply,
  startLoopbackProvider,
} from "../../../../tests/support/loopback-provider.ts";
import { probeModel } from "./probe-model.ts";

const open: LoopbackProvider[] = [];
after(() => Promise.all(open.map((one) => one.close())));

async function probe(provider: string, reply: Reply, key?: string) {
  const server = await startLoopbackProvider({ script: [reply] });
  open.push(server);
  const spec = { provider, id: "some-model", baseUrl: server.baseUrl, contextTokens: 1000, key: "KEY" };
  return {
    server,
    probed: await probeModel(spec, key ?? server.key, { timeoutMs: "hang" in reply ? 300 : 20_000 }),
  };
}

for (const provider of ["openai", "anthropic", "local"]) {
  test(`${provider}: a model that answers works, with any answer, for a few tokens`, async () => {
    for (const reply of [
      { text: "yes" },
      { text: "y", finish: "length" },
      { text: "no", finish: "refusal" },
    ] as Reply[]) {
      const { server, probed } = await probe(provider, reply);
      assert.deepEqual([probed.answer, probed.wayOut], ["works", null]);
      const { max_tokens, max_output_tokens } = server.seen[0]!.body;
      assert.ok(Number(max_tokens ?? max_output_tokens) <= 16);
    }
    const { probed } = await probe(provider, { text: "yes", answeredBy: "some-model-2026-01-01" });
    assert.match(probed.found, /as some-model-2026-01-01/u);
  });

  const failures: [Reply, string, RegExp][] = [
    [{ status: 404, complaint: "retired-model" }, "retired", /some-model/u],
    [{ status: 404 }, "retired", /retired, misspelt, or not available to this key/u],
    [{ status: 403 }, "refused-key", /\S/u],
    [{ status: 429 }, "busy", /rate limit/iu],
    [{ status: 529 }, "busy", /overloaded/iu],
    [{ status: provider === "anthropic" ? 400 : 429, complaint: "no-money" }, "no-money", /credit|quota/u],
    [{ hang: true }, "unreachable", /no byte came|did not answer/u],
    [{ garbage: true }, "unreachable", /\S/u],
    [{ status: 400 }, "unclear", /\S/u],
  ];
  for (const [reply, answer, found] of failures)
    test(`${provider}: ${JSON.stringify(reply)} is reported as ${answer}, with a way out`, async () => {
      const { probed } = await probe(provider, reply);
      assert.equal(probed.answer, answer, probed.found);
      assert.match(probed.found, found);
      assert.ok(probed.wayOut);
    });
}

test("a deprecation in the provider's words is reported as retired", async () => {
  const { probed } = await probe("openai", { status: 404, complaint: "retired-model" });
  assert.match(probed.found, /it is retired \(.*deprecated/u);
});

test("an unset key is reported without a request, a wrong one by the provider", async () => {
  const none = await probe("openai", { text: "never" }, "");
  assert.deepEqual([none.probed.answer, none.server.seen.length], ["no-key", 0]);
  assert.match(none.probed.found, /KEY is not set/u);
  const wrong = await probe("anthropic", { text: "never" }, "sk-not-this-one");
  assert.equal(wrong.probed.answer, "refused-key");
  assert.ok(!JSON.stringify(wrong.probed).includes("sk-not-this-one"));
});

test("a stopped server is unreachable, and an incomplete spec is reported with the missing field", async () => {
  const server = await startLoopbackProvider({ script: [] });
  await server.close();
  const spec = { provider: "ollama", id: "qwen", contextTokens: 1000 };
  const gone = await probeModel({ ...spec, baseUrl: server.baseUrl }, undefined);
  assert.equal(gone.answer, "unreachable");
  assert.match(gone.wayOut!, /is it started/u);
  assert.match((await probeModel(spec, undefined)).found, /needs `baseUrl`/u);
});
