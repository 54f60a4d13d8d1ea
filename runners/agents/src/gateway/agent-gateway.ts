// The model gateway of one attempt: a unix socket in the sandbox's folder, and inside a forwarder that carries
// connections on 127.0.0.1 to it. The agent can kill the forwarder, usually by mistake (`pkill python`): it is started
// again on the same port as long as the program runs.
import { randomBytes } from "node:crypto";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecResult, Sandbox } from "@mlrb/core/ports/sandbox";
import type { OverBudget } from "../attempt/meter.ts";
import { causeRow, isAgents, type ModelCause } from "../model/failure-causes.ts";
import { ProviderTrouble } from "../model/provider-trouble.ts";
import { SandboxTrouble } from "../sandbox/sandbox-trouble.ts";
import type { CallOutcome } from "./gateway-call.ts";
import type { GatewayProtocol, GatewayProvider } from "./gateway-provider.ts";
import { ModelGateway, type ModelGatewayOptions } from "./model-gateway.ts";

export type AgentGatewayRequest = Pick<
  ModelGatewayOptions,
  "providers" | "meter" | "prices" | "write" | "network" | "failed" | "silence" | "waiting"
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

const folder = "gateway";

/** To be called before the first program runs. Throws if the sandbox cannot run the forwarder. */
export async function agentGateway(sandbox: Sandbox, request: AgentGatewayRequest): Promise<AgentGateway> {
  const { providers, scratch, agent, failed } = request;
  if (!sandbox.listen)
    throw new Error(`agent "${agent}": its sandbox (${sandbox.kind}) has no place for a model gateway`);
  // Unlike any provider's key in length and form. No secret either: it is valid for this attempt and this socket only.
  const token = `mlrb-${randomBytes(16).toString("hex")}`;
  const { promise: overBudget, resolve } = Promise.withResolvers<OverBudget>();
  const outcomes = new CallOutcomes(failed);
  const ended = (how: CallOutcome) => outcomes.take(how);
  const gateway = new ModelGateway({ ...request, token, overBudget: resolve, ended });
  const own = join(scratch, folder);
  await mkdir(own);
  for (const name of ["forwarder.py", "forwarder.mjs"])
    await copyFile(join(import.meta.dirname, name), join(own, name));
  await sandbox.put(own, folder, { readOnly: true });
  await sandbox.listen(gateway.server, `${folder}/model.sock`);
  const forwarder = keepForwarder(sandbox, request);
  const close = async () => {
    forwarder.stop();
    await gateway.close();
  };
  try {
    const address = `http://127.0.0.1:${await forwarder.port}`;
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
  #answered = 0;
  /** Consecutive answers that were none. */
  #noAnswers = 0;
  #failure: ProviderTrouble | undefined;

  constructor(failed: (trouble: ProviderTrouble) => void) {
    this.#failed = failed;
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
    this.#noAnswers = causeRow(cause).retry === "once" ? this.#noAnswers + 1 : 0;
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
    if (causeRow(cause).retry === "once") return this.#noAnswers > 1;
    return this.#answered === 0 || ["wrong-key", "out-of-money", "over-cap"].includes(cause);
  }
}

// an image of Node has no Python, and a host may have no Node
const start =
  'if command -v python3 >/dev/null 2>&1; then exec python3 -I -S -B forwarder.py "$1"; fi; ' +
  'if command -v node >/dev/null 2>&1; then exec node forwarder.mjs "$1"; fi; ' +
  'echo "neither python3 nor node is on the PATH"; exit 127';

function keepForwarder(sandbox: Sandbox, { agent, path }: AgentGatewayRequest) {
  let stopped = false;
  let port = 0;
  let said = "";
  const { promise: first, resolve: listening, reject } = Promise.withResolvers<number>();
  const once = () =>
    sandbox.exec({
      argv: ["sh", "-c", start, "forwarder", String(port)],
      cwd: sandbox.seenAs(folder),
      env: path === undefined ? {} : { PATH: path },
      onOutput(_, bytes) {
        if (port > 0) return; // programs inside may write here too
        said = (said + Buffer.from(bytes).toString()).slice(-1000);
        const found = /^port (\d+)$/m.exec(said)?.[1];
        if (found === undefined) return;
        port = Number(found);
        listening(port);
      },
    });
  void (async () => {
    while (!stopped) {
      const result = await once();
      if (port === 0) return reject(notBegun(agent, result, said));
      if (result.kind === "lost" || result.kind === "not-started" || ("over" in result && result.over))
        return;
      await sleep(200, undefined, { ref: false });
    }
  })().catch(reject);
  return {
    port: first,
    stop() {
      stopped = true;
    },
  };
}

function notBegun(agent: string, result: ExecResult, said: string): Error {
  if (result.kind === "lost")
    return new SandboxTrouble(`the sandbox ended while agent "${agent}" was running: ${result.detail}`);
  const why = result.kind === "not-started" ? result.detail : said.trim() || JSON.stringify(result);
  return new Error(
    `agent "${agent}": its model gateway could not be opened inside: ${why}; ` +
      "it needs sh, and python3 or node, on the PATH of the sandbox (`image` of the preset)",
  );
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
