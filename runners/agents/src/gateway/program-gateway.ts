// What the gateway adds to a program's run: the variables by which the program finds its model, the end of the run when
// tokens or dollars are used up, and the refusal to measure an agent by a failure of its provider.
import type { ExecResult, Sandbox } from "@mlrb/core/ports/sandbox";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { OverBudget } from "../attempt/meter.ts";
import type { CallCounts } from "../model/ask-model.ts";
import type { ProviderSilence } from "../model/provider-silence.ts";
import type { AttemptWaiting } from "../waiting/waiting.ts";
import { agentGateway } from "./agent-gateway.ts";
import type { CallDesk } from "./gateway-call.ts";
import type { GatewayProvider } from "./gateway-provider.ts";
import type { GatewayPrices } from "./served-price.ts";

/** The part of an attempt's request that is about the gateway. */
export type GatewayRequest = {
  providers: GatewayProvider[];
  dollarsOf: GatewayPrices["dollarsOf"];
};

/** A model call was refused for this limit, so the program's own end is not awaited. */
export type OverBudgetEnding = { kind: "over-budget"; limit: OverBudget["limit"] };

export type ProgramGateway = {
  address: string;
  env: Record<string, string>;
  /** How the program ends. Rejects with a failure that is not the agent's doing. */
  ending(running: Promise<ExecResult>): Promise<ExecResult | OverBudgetEnding>;
  /** May be called more than once. */
  close(): Promise<void>;
};

export async function programGateway(
  sandbox: Sandbox,
  { providers, dollarsOf }: GatewayRequest,
  attempt: {
    agent: string;
    network: boolean;
    scratch: string;
    path: string | undefined;
    meter: CallDesk["meter"];
    silence: ProviderSilence;
    write(event: TrajectoryEvent): void;
    waiting?: AttemptWaiting;
    before?: CallCounts;
    prices: Omit<GatewayPrices, "dollarsOf">;
  },
): Promise<ProgramGateway> {
  const { promise: failure, reject: fail } = Promise.withResolvers<never>();
  failure.catch(() => {}); // `ending` rejects with it
  const prices = { ...attempt.prices, dollarsOf };
  const gateway = await agentGateway(sandbox, { ...attempt, providers, prices, failed: fail });
  let closing: Promise<void> | undefined;
  return {
    address: gateway.address,
    env: gateway.env,
    async ending(running) {
      const over = gateway.overBudget.then(({ limit }): OverBudgetEnding => ({ kind: "over-budget", limit }));
      const ended = await Promise.race([running, over, failure]);
      const lost = ended.kind === "over-budget" ? undefined : gateway.lostTo(ended);
      if (lost) throw lost; // the program gave up because its provider failed
      return ended;
    },
    close() {
      closing ??= gateway.close();
      return closing;
    },
  };
}
