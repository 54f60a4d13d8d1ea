// The model gateway of one attempt, as programs in its sandbox reach it: the variables by which a program finds
// its model, the end of its run when tokens or dollars are used up, and the refusal to measure an agent by a
// failure of its provider.
import { randomBytes } from "node:crypto";
import type { ExecResult, Sandbox } from "@mlrb/core/ports/sandbox";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { OverBudget } from "../attempt/meter.ts";
import { isAgents, modelCauses } from "../model/failure-causes.ts";
import { ProviderTrouble } from "../model/provider-trouble.ts";
import { type ForwardedServer, forwardInside } from "./forward-inside.ts";
import type { CallOutcome } from "./gateway-call.ts";
import type { GatewayProtocol, GatewayProvider } from "./gateway-provider.ts";
import { ModelGateway, type ModelGatewayOptions } from "./model-gateway.ts";

/** A model call was refused for this limit, so the program's own end is not awaited. */
export type OverBudgetEnding = { kind: "over-budget"; limit: OverBudget["limit"] };

/** To be called before the first program runs. Throws if the sandbox cannot run the forwarder. */
export async function programGateway(
  sandbox: Sandbox,
  {
    scratch,
    agent,
    path,
    folder,
    ...options
  }: Omit<ModelGatewayOptions, "token" | "overBudget" | "ended" | "failed"> &
    Pick<ForwardedServer, "scratch" | "agent" | "path" | "folder">,
) {
  // Unlike any provider's key in length and form. No secret either: it is valid for this attempt and this socket
  // only.
  const token = `mlrb-${randomBytes(16).toString("hex")}`;
  const over = Promise.withResolvers<OverBudgetEnding>();
  const { promise: failure, reject: failed } = Promise.withResolvers<never>();
  failure.catch(() => {}); // `ending` rejects with it
  const outcomes = new CallOutcomes(failed, options.counts?.answered ?? 0);
  const gateway = new ModelGateway({
    ...{ ...options, token, failed },
    overBudget: ({ limit }) => over.resolve({ kind: "over-budget", limit }),
    ended: (how) => outcomes.take(how),
  });
  const { server } = gateway;
  const what = { server, what: "model gateway", folder };
  const forwarding = await forwardInside(sandbox, { ...what, scratch, agent, path });
  const close = async () => {
    forwarding.stop();
    await gateway.close();
  };
  try {
    const address = await forwarding.address;
    return {
      /** Where programs inside find it, e.g. `http://127.0.0.1:4000`. */
      address,
      /** Variables by which the program finds it. */
      env: gatewayVariables(options.providers, address, token),
      /** How the program ends. Rejects with a failure that is not the agent's doing. */
      async ending(running: Promise<ExecResult>): Promise<ExecResult | OverBudgetEnding> {
        const ended = await Promise.race([running, over.promise, failure]);
        const lost = ended.kind === "over-budget" ? undefined : outcomes.lostTo(ended);
        if (lost) throw lost; // the program gave up because its provider failed
        return ended;
      },
      /**
       * Starts no forwarder and answers no call after this. To be called before everything inside is ended; may be
       * called more than once.
       */
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Decides from how calls ended whether the attempt, or its program, ended by a provider's failure. */
class CallOutcomes {
  readonly #failed: (trouble: ProviderTrouble) => void;
  /** Also before a restart of the attempt. */
  #answered: number;
  /** Consecutive answers that were none. */
  #noAnswers = 0;
  #failure: ProviderTrouble | undefined;

  constructor(failed: (trouble: ProviderTrouble) => void, answered: number) {
    this.#failed = failed;
    this.#answered = answered;
  }

  take(how: CallOutcome): void {
    if (how === "answered") {
      this.#failure = undefined;
      this.#noAnswers = 0;
      this.#answered++;
      return;
    }
    const { model, failure, gone, lost } = how;
    const { cause, whose, detail } = failure;
    this.#noAnswers = modelCauses[cause].retry === "once" ? this.#noAnswers + 1 : 0;
    const tries = lost ?? { tries: 1, waitedMs: 0 };
    this.#failure = new ProviderTrouble(model, { ...failure, detail: detail.slice(0, 300) }, tries);
    const atOnce = !gone && whose === "operator" && this.#endsAtOnce(cause);
    if (lost || atOnce) this.#failed(this.#failure);
  }

  /** The provider's failure that explains the program's end; undefined if the agent is responsible. */
  lostTo(result: ExecResult): ProviderTrouble | undefined {
    const gaveUp =
      this.#answered === 0 || result.kind === "signalled" || (result.kind === "exited" && result.code !== 0);
    return gaveUp && this.#failure && !isAgents(this.#failure.whose) ? this.#failure : undefined;
  }

  /**
   * Whether only the operator can help, so the program need not fail by itself. A model that cannot be had does
   * not count once another has answered: the program may not need it.
   */
  #endsAtOnce(cause: ModelCause): boolean {
    if (modelCauses[cause].retry === "once") return this.#noAnswers > 1;
    return this.#answered === 0 || ["wrong-key", "out-of-money", "over-cap"].includes(cause);
  }
}

/** The variables that the protocols' clients read. They name the first provider of each protocol. */
function gatewayVariables(
  providers: GatewayProvider[],
  address: string,
  token: string,
): Record<string, string> {
  const of: Record<GatewayProtocol, (base: string) => Record<string, string>> = {
    anthropic: (base) => ({ ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: token }),
    // OPENAI_API_BASE: read by clients from before OPENAI_BASE_URL, such as litellm and aider
    openai: (base) => ({
      ...{ OPENAI_BASE_URL: `${base}/v1`, OPENAI_API_BASE: `${base}/v1`, OPENAI_API_KEY: token },
    }),
    google: (base) => ({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: token }),
  };
  const all = providers.toReversed().map(({ protocol, name }) => of[protocol](`${address}/${name}`));
  return Object.assign({ MLRB_GATEWAY: address, MLRB_GATEWAY_KEY: token }, ...all);
}
