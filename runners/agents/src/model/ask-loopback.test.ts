// Asks through the real client and a connection: each provider's limits, broken answers and filters become
// charges, waits and events.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import {
  type LoopbackProvider,
  type Reply,
  startLoopbackProvider,
} from "../../../../tests/support/providers/loopback-provider.ts";
import type { Meter } from "../attempt/meter.ts";
import { priceBook } from "../spending/prices.ts";
import { heldCall } from "../testing/held-call.ts";
import { aiSdkClient } from "./ai-sdk-client.ts";
import { askModel } from "./ask-model.ts";
import { modelCauses } from "./failure-causes.ts";
import { ProviderTrouble } from "./provider-trouble.ts";

const open: LoopbackProvider[] = [];
after(() => Promise.all(open.map((one) => one.close())));

const protocols = [
  { provider: "openai", id: "gpt-4o-2024-08-06" },
  { provider: "anthropic", id: "claude-3-5-sonnet-20240620" },
  { provider: "vllm", id: "qwen" },
];

async function asking({ provider, id }: { provider: string; id: string }, script: Reply[]) {
  const server = await startLoopbackProvider({ script });
  open.push(server);
  const events: TrajectoryEvent[] = [];
  const charged: Parameters<Meter["charge"]>[0][] = [];
  const waits: string[] = [];
  const pauses: number[] = [];
  const meter = {
    waiting: (why: string, wait: () => Promise<unknown>) => {
      waits.push(why);
      return wait();
    },
    hold: () => heldCall,
    overCap: () => undefined,
    charge: (spent: (typeof charged)[number]) => charged.push(spent),
    over: () => undefined,
  } as unknown as Meter;
  const ask = askModel({
    client: aiSdkClient({ provider, id, baseUrl: server.baseUrl, contextTokens: 9000 }, server.key, {
      idleMs: 2000,
    }),
    meter,
    dollarsOf: (usage) => priceBook([]).dollarsOf(usage, provider, id),
    digest: () => "digest",
    write: (event) => events.push(event),
    signal: new AbortController().signal,
    options: {
      random: () => 0,
      async sleep(ms) {
        pauses.push(ms);
      },
    },
  });
  const causes = () => events.flatMap((one) => (one.event === "model-try" ? [one.cause] : []));
  return {
    server,
    events,
    charged,
    waits,
    pauses,
    causes,
    ask: () => ask("agent", [{ role: "user", text: "Begin." }], []),
  };
}

for (const protocol of protocols) {
  test(`${protocol.provider}: transient failures are waited out, and the answer is charged once`, async () => {
    const { ask, causes, pauses, waits, charged, server, events } = await asking(protocol, [
      { status: 429, retryAfterMs: 2500 },
      { status: 529 },
      { status: 500 },
      { reset: true },
      { text: "a beginning that is never said to its end".repeat(9), cut: 1200 },
      { hang: true },
      { garbage: true },
      { text: "here", usage: { input: 1000, output: 100 } },
    ]);
    const asked = await ask();
    assert.ok(asked.kind === "answered" && asked.response.text === "here");
    assert.deepEqual(causes(), [
      "rate-limit",
      "overloaded",
      "server-error",
      "connection-lost",
      "cut-stream",
      "idle",
      "no-stream",
    ]);
    assert.equal(pauses[0], 2500);
    assert.deepEqual(waits, ["rate-limit", ...Array(6).fill("provider")]);
    assert.equal(server.seen.length, 8);
    assert.deepEqual(
      charged.map(({ answered }) => answered),
      [...Array(7).fill(false), true],
    );
    const price = protocol.provider === "vllm" ? null : protocol.provider === "openai" ? 0.0035 : 0.0045;
    assert.equal(charged.at(-1)!.dollars, price);
    const call = events.at(-1)!;
    assert.ok(call.event === "model-call" && call.tries === 8 && call.dollars === price);
  });

  test(`${protocol.provider}: a page or a body in place of a stream is requested once more, then reported with its first bytes`, async () => {
    const body = '{"id":"x","choices":[{"message":{"content":"whole"}}]}';
    for (const [reply, quoted] of [
      [{ garbage: true }, /"<!doctype html><title>Sign in/u],
      [{ status: 200, body }, /"\{\\"id\\":\\"x\\"/u],
    ] as [Reply, RegExp][]) {
      const { ask, server, charged } = await asking(protocol, Array<Reply>(5).fill(reply));
      await assert.rejects(ask(), (error) => {
        assert.ok(error instanceof ProviderTrouble);
        assert.deepEqual([error.cause, error.whose], ["no-stream", "operator"]);
        assert.match(error.message, quoted);
        return true;
      });
      assert.deepEqual([server.seen.length, charged.length], [2, 2]);
    }
  });

  test(`${protocol.provider}: a request too long goes back, a filtered one is a refusal`, async () => {
    const { ask } = await asking(protocol, [
      { status: 400, complaint: "too-long" },
      { status: 400, complaint: "policy" },
    ]);
    assert.deepEqual(await ask(), { kind: "too-long" });
    const asked = await ask();
    assert.ok(asked.kind === "answered" && asked.response.finish === "refusal");
  });

  test(`${protocol.provider}: a retired model ends the attempt at once, with owner and way out`, async () => {
    const { ask, server } = await asking(protocol, [{ status: 404, complaint: "retired-model" }]);
    await assert.rejects(ask(), (error) => {
      assert.ok(error instanceof ProviderTrouble);
      assert.deepEqual([error.cause, error.whose], ["unknown-model", "operator"]);
      assert.ok(error.message.startsWith(`${protocol.provider} ${protocol.id}: unknown-model: 404: `));
      assert.ok(error.message.endsWith(modelCauses[error.cause].wayOut!));
      return true;
    });
    assert.equal(server.seen.length, 1);
  });
}
