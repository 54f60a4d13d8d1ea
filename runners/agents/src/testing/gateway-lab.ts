// A model gateway in front of a scripted provider, and a meter in memory, for tests.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type {
  ModelRequestEvent,
  ModelUsage,
  RequestPartEvent,
  TrajectoryEvent,
} from "@mlrb/formats/attempt/trajectory";
import {
  LOOPBACK_KEY,
  type LoopbackProvider,
  type Script,
  startLoopbackProvider,
} from "../../../../tests/support/providers/loopback-provider.ts";
import type { HeldCall, OverBudget } from "../attempt/meter.ts";
import type { CallDesk } from "../gateway/gateway-call.ts";
import type { GatewayProvider } from "../gateway/gateway-provider.ts";
import { ModelGateway } from "../gateway/model-gateway.ts";
import type { CallCounts } from "../model/ask-model.ts";
import { providerSilence } from "../model/provider-silence.ts";
import type { AttemptWaiting } from "../waiting/waiting.ts";

export const token = "mlrb-0123456789abcdef";
export const realKey = LOOPBACK_KEY;

/** Counts tokens and dollars, and runs each wait. */
export function purse(limits: { tokens?: number } = {}) {
  const spent = { input: 0, output: 0, dollars: 0, charges: 0, uncounted: 0, waits: [] as string[] };
  const inFlight = new Set<HeldCall>();
  const meter: CallDesk["meter"] = {
    leftMs: () => 600_000,
    hold() {
      const held: HeldCall = {
        again: () => inFlight.add(held).has(held),
        release: () => void inFlight.delete(held),
      };
      held.again();
      return held;
    },
    overCap: () => undefined,
    charge({ usage, dollars }, held) {
      inFlight.delete(held);
      spent.charges++;
      spent.uncounted += usage === null ? 1 : 0;
      spent.input += usage?.inputTokens ?? 0;
      spent.output += usage?.outputTokens ?? 0;
      spent.dollars += dollars ?? 0;
    },
    over() {
      const tokens = spent.input + spent.output;
      return tokens >= (limits.tokens ?? Number.POSITIVE_INFINITY)
        ? { limit: "tokens", detail: `${tokens} of ${limits.tokens} tokens` }
        : undefined;
    },
    async waiting(why, wait) {
      spent.waits.push(`${why} began`);
      const result = await wait();
      spent.waits.push(`${why} ended`);
      return result;
    },
  };
  return { spent, meter, inFlight };
}

/** Both protocols' providers at one loopback server. */
export function providersAt(provider: LoopbackProvider): GatewayProvider[] {
  const common = { baseUrl: provider.baseUrl, key: realKey, free: false };
  return [
    { name: "openai", protocol: "openai", ids: ["gpt-test", "o-test*"], ...common },
    { name: "anthropic", protocol: "anthropic", ids: ["claude-test"], ...common },
  ];
}

const dollarsOfLab = ({ inputTokens, outputTokens }: ModelUsage) => (inputTokens + 10 * outputTokens) / 1e6;

export async function gatewayLab(
  t: TestContext,
  script: Script,
  {
    tokens,
    network = false,
    ...given
  }: {
    tokens?: number;
    network?: boolean;
    meter?: CallDesk["meter"];
    waiting?: AttemptWaiting;
    counts?: CallCounts;
    prices?: CallDesk["prices"];
    providers?: (provider: LoopbackProvider) => GatewayProvider[];
  } = {},
) {
  const provider = await startLoopbackProvider({ script });
  const { spent, meter: counting, inFlight } = purse(tokens === undefined ? {} : { tokens });
  const meter = given.meter ?? counting;
  const events: TrajectoryEvent[] = [];
  const requests: (ModelRequestEvent | RequestPartEvent)[] = [];
  const over: OverBudget[] = [];
  const failures: unknown[] = [];
  const ended: Parameters<CallDesk["ended"]>[0][] = [];
  const gateway = new ModelGateway({
    providers: (given.providers ?? providersAt)(provider),
    ...(given.waiting && { waiting: given.waiting }),
    ...(given.counts && { counts: given.counts }),
    token,
    meter,
    network,
    prices: given.prices ?? {
      dollarsOf: dollarsOfLab,
      mostDollarsOf: dollarsOfLab,
      hasOwnPrice: () => false,
    },
    write(event) {
      if (event.event === "model-request" || event.event === "request-part") requests.push(event);
      else events.push(event);
    },
    overBudget: (used) => over.push(used),
    ended: (how) => ended.push(how),
    silence: providerSilence({ budgetMs: 1 }),
    failed: (error) => failures.push(error),
  });
  gateway.server.listen(0, "127.0.0.1");
  await once(gateway.server, "listening");
  const { port } = gateway.server.address() as AddressInfo;
  t.after(async () => {
    await provider.close();
    await gateway.close();
  });
  return {
    ...{ provider, gateway, spent, inFlight, events, requests, over, failures, ended, port },
    /** Sends a request as a client of the protocol does. */
    ask: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${port}/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
  };
}
