// The paid calls over a real connection, in the protocols of providers.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ModelSpec } from "@mlrb/formats/declared/agent-preset";
import { writeCap, writePurse } from "@mlrb/kit/attempts/purse";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import {
  type Reply,
  startLoopbackProvider,
} from "../../../../../tests/support/providers/loopback-provider.ts";
import { ProviderTrouble } from "../../model/provider-trouble.ts";
import { judged, reply } from "../testing/judge-lab.ts";
import { answerStore, JudgeTrouble } from "./answer-store.ts";
import { judgeModel } from "./judge-model.ts";

const price = "qwen2.5-7b=100/1000";

async function lab(t: TestContext, script: Reply[], some: Partial<ModelSpec> & { maxDollars?: number } = {}) {
  const server = await startLoopbackProvider({ script });
  const folder = mkdtempSync(join(tmpdir(), "judge-"));
  t.after(async () => {
    await server.close();
    removeFolder(folder);
  });
  const { maxDollars = 5, ...more } = some;
  const [cap, purse] = [join(folder, "cap.jsonl"), join(folder, "purse.json")];
  writeCap(cap, maxDollars);
  writePurse(purse, { runs: [{ run: "r", prices: [price] }], cap });
  const spec = {
    provider: "local",
    id: "qwen2.5-7b",
    baseUrl: server.baseUrl,
    key: "JUDGE_KEY",
    contextTokens: 100_000,
    maxOutputTokens: 100,
    ...more,
  };
  const paying = { env: { JUDGE_KEY: server.key }, purse, signal: new AbortController().signal };
  const model = () => judgeModel(spec, paying);
  const charged = () =>
    readFileSync(cap, "utf8")
      .split("\n")
      .flatMap((line) => (line.includes('"dollars"') ? [JSON.parse(line).dollars as number] : []));
  return { server, folder, spec, paying, model, charged };
}

const no = { text: reply("no"), usage: { input: 1000, output: 100 } };

test("a judge asks with its key and settings, without tools, and each call is charged to the cap", async (t) => {
  const { server, spec, model, charged } = await lab(t, [no, no, no], { temperature: 0.5 });
  const { answers } = await judged(() => "", { judge: spec, call: model() });
  assert.equal(answers.questions[0]!.answer, "no");
  assert.equal(server.turnedAway(), 0);
  assert.equal(server.seen.length, 3);
  for (const { body } of server.seen) {
    assert.deepEqual([body.model, body.temperature, body.max_tokens], ["qwen2.5-7b", 0.5, 100]);
    assert.ok(!("tools" in body) && !("seed" in body));
  }
  const each = (1000 * 100 + 100 * 1000) / 1e6;
  assert.deepEqual(charged(), [each, each, each]);
  assert.equal(answers.dollars?.toFixed(2), "0.60");
});

test("without a declared temperature none is sent", async (t) => {
  const { server, model, spec } = await lab(t, [no]);
  await judged(() => "", { judge: spec, call: model(), votes: 1 });
  assert.ok(!("temperature" in server.seen[0]!.body));
});

test("over the cap the stage fails, and a higher cap continues with the answers that were paid", async (t) => {
  const { server, spec, folder, model, charged } = await lab(t, [no, no, no], { maxDollars: 0.1 });
  const answers = answerStore(join(folder, "answers"));
  const capped = await judged(() => "", { judge: spec, call: model(), answers });
  assert.ok(capped.trouble instanceof ProviderTrouble);
  assert.match(
    capped.trouble.message,
    /over-cap: .* spent the 0\.1 dollars of its --max-cost; .* higher --max-cost/u,
  );
  assert.equal(server.seen.length, 1);
  writeCap(join(folder, "cap.jsonl"), 10);
  const resumed = await judged(() => "", { judge: spec, call: model(), answers });
  assert.equal(resumed.answers.questions[0]!.answer, "no");
  assert.equal(server.seen.length, 3, "the first answer is not bought again");
  assert.equal(charged().length, 3);
});

test("with a cap a model without a known price is not asked", async (t) => {
  const { server, spec, model } = await lab(t, [no], { id: "nameless" });
  const { trouble } = await judged(() => "", { judge: spec, call: model() });
  assert.match(trouble!.message, /the model's price is unknown, and the run has a --max-cost: add --price/u);
  assert.equal(server.seen.length, 0);
});

test("a free model costs nothing under a cap", async (t) => {
  const { charged, spec, model } = await lab(t, [no], { id: "nameless", free: true });
  const { answers } = await judged(() => "", { judge: spec, call: model(), votes: 1 });
  assert.equal(answers.dollars, 0);
  assert.deepEqual(charged(), []);
});

test("a busy provider is asked again, and a failed try without usage costs nothing", async (t) => {
  const { server, spec, model } = await lab(t, [{ status: 429, retryAfterMs: 1 }, no]);
  const { answers } = await judged(() => "", { judge: spec, call: model(), votes: 1 });
  assert.equal(answers.questions[0]!.answer, "no");
  assert.equal(server.seen.length, 2);
  assert.equal(answers.dollars, 0.2);
});

test("a try whose cost is unknown leaves the cost of the answer known, and counts for the cap", async (t) => {
  const { spec, model, charged } = await lab(t, [{ reset: true }, no]);
  const { answers } = await judged(() => "", { judge: spec, call: model(), votes: 1 });
  assert.equal(answers.dollars, 0.2);
  assert.equal(charged().length, 2);
});

test("a refused key, a missing key and a missing purse are said, and nothing is asked", async (t) => {
  const { server, spec, model, paying } = await lab(t, [no]);
  paying.env = { JUDGE_KEY: "wrong" };
  const { trouble } = await judged(() => "", { judge: spec, call: model() });
  assert.match(trouble!.message, /^local qwen2\.5-7b: wrong-key: .*; export a valid key/u);
  assert.throws(() => judgeModel(spec, { ...paying, env: {} }), /JUDGE_KEY is not set/u);
  assert.throws(
    () => judgeModel(spec, { ...paying, purse: "/missing/purse.json" }),
    /no \/missing\/purse\.json/u,
  );
  assert.equal(server.seen.length, 0);
});

test("Anthropic is told to cache the extract, which all questions share", async (t) => {
  const { server, spec, model } = await lab(t, [no], { provider: "anthropic" });
  await judged(() => "", { judge: spec, call: model(), votes: 1 });
  const { messages } = server.seen[0]!.body as {
    messages: { content: { text: string; cache_control?: object }[] }[];
  };
  const [data, question] = messages[0]!.content;
  assert.match(data!.text, /\[2\] result: cat test\.csv/u);
  assert.deepEqual(data!.cache_control, { type: "ephemeral" });
  assert.match(question!.text, /^Question: /u);
});

test("a stage that is stopped during a call charges the most that the call can cost", async (t) => {
  const { server, spec, paying, charged } = await lab(t, [{ hang: true }]);
  const stop = new AbortController();
  const asking = judged(() => "", {
    judge: spec,
    call: judgeModel(spec, { ...paying, signal: stop.signal }),
  });
  while (server.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  stop.abort(new JudgeTrouble("stopped by SIGTERM"));
  assert.equal((await asking).trouble?.message, "stopped by SIGTERM");
  assert.equal(charged().length, 1);
  assert.ok(charged()[0]! > 0.1 && charged()[0]! < 1, "the prompt, and an answer of the most tokens");
});
