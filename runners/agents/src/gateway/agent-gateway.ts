// The model gateway of one attempt, as programs in its sandbox reach it.
import { randomBytes } from "node:crypto";
import type { ExecResult, Sandbox } from "@mlrb/core/ports/sandbox";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { OverBudget } from "../attempt/meter.ts";
import { isAgents, modelCauses } from "../model/failure-causes.ts";
import { ProviderTrouble } from "../model/provider-trouble.ts";
import { forwardInside } from "./forward-inside.ts";
import type { CallOutcome } from "./gateway-call.ts";
import type { GatewayProtocol, GatewayProvider } from "./gateway-provider.ts";
import { ModelGateway, type ModelGatewayOptions } from "./model-gateway.ts";

export type AgentGatewayRequest = Pick<
  ModelGatewayOptions,
  "providers" | "meter" | "prices" | "write" | "network" | "failed" | "silence" | "waiting" | "before"
> & {
  /** An empty host folder that the caller removes. */
  scratch: string;
  agent: string;
  /** PATH on which the forwarder's interpreter is found: the program's own. */
  path: string | undefined;
};

export type AgentGateway = {
  /** Where programs inside find it, e.g. `http://127.0.0.1:4000`. */
  address: string;
  /** Variables by which the program finds it. */
  env: Record<string, string>;
  /** Resolves when a call was refused because tokens or dollars are used up. */
  overBudget: Promise<OverBudget>;
  /** The provider's failure that explains the program's end; undefined if the agent is responsible. */
  lostTo(result: ExecResult): ProviderTrouble | undefined;
  /** Starts no forwarder and answers no call after this. To be called before everything inside is ended. */
  close(): Promise<void>;
};

/** To be called before the first program runs. Throws if the sandbox cannot run the forwarder. */
export async function agentGateway(sandbox: Sandbox, request: AgentGatewayRequest): Promise<AgentGateway> {
  const { providers, scratch, agent, path, failed } = request;
  // Unlike any provider's key in length and form. No secret either: it is valid for this attempt and this socket only.
  const token = `mlrb-${randomBytes(16).toString("hex")}`;
  const { promise: overBudget, resolve } = Promise.withResolvers<OverBudget>();
  const outcomes = new CallOutcomes(failed, request.before?.answered ?? 0);
  const ended = (how: CallOutcome) => outcomes.take(how);
  const gateway = new ModelGateway({ ...request, token, overBudget: resolve, ended });
  const forwarded = {
    server: gateway.server,
    what: "model gateway",
    folder: "gateway",
    scratch,
    agent,
    path,
  };
  const forwarding = await forwardInside(sandbox, forwarded);
  const close = async () => {
    forwarding.stop();
    await gateway.close();
  };
  try {
    const address = await forwarding.address;
    const env = gatewayVariables(providers, address, token);
    return { address, env, overBudget, lostTo: (result) => outcomes.lostTo(result), close };
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

  lostTo(result: ExecResult): ProviderTrouble | undefined {
    const gaveUp =
      this.#answered === 0 || result.kind === "signalled" || (result.kind === "exited" && result.code !== 0);
    return gaveUp && this.#failure && !isAgents(this.#failure.whose) ? this.#failure : undefined;
  }

  /**
   * Whether only the operator can help, so the program need not fail by itself. A model that cannot be had does not
   * count once another has answered: the program may not need it.
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
  const variables: Record<string, string> = { MLRB_GATEWAY: address, MLRB_GATEWAY_KEY: token };
  const of: Record<GatewayProtocol, (base: string) => Record<string, string>> = {
    anthropic: (base) => ({ ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: token }),
    // OPENAI_API_BASE: read by clients from before OPENAI_BASE_URL, such as litellm and aider
    openai: (base) => ({
      OPENAI_BASE_URL: `${base}/v1`,
      OPENAI_API_BASE: `${base}/v1`,
      OPENAI_API_KEY: token,
    }),
    google: (base) => ({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: token }),
  };
  for (const { protocol, name } of [...providers].reverse())
    Object.assign(variables, of[protocol](`${address}/${name}`));
  return variables;
}
