// The model gateway of one attempt, as its program meets it: a unix socket in the sandbox's folder, and inside a
// forwarder that carries connections on 127.0.0.1 to it. The forwarder is the agent's to kill, by mistake as a
// rule (`pkill python`): it is started again, on the same port, as long as the program runs.
import { randomBytes } from "node:crypto";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecResult, Sandbox } from "@mlrb/core/ports/sandbox";
import type { OverBudget } from "../attempt/meter.ts";
import { causeRow, isAgents, type ModelCause } from "../model/failure-causes.ts";
import { ProviderTrouble } from "../model/provider-trouble.ts";
import { SandboxTrouble } from "../sandbox/sandbox-trouble.ts";
import type { GatewayProtocol, GatewayProvider } from "./gateway-provider.ts";
import { ModelGateway, type ModelGatewayOptions } from "./model-gateway.ts";

export type AgentGatewayRequest = Pick<
  ModelGatewayOptions,
  "providers" | "meter" | "dollarsOf" | "write" | "network" | "failed" | "silence" | "waiting"
> & {
  /** An empty host folder that the caller removes. */
  scratch: string;
  agent: string;
  /** For the forwarder to be found, as the program's own. */
  path: string | undefined;
};

export type AgentGateway = {
  /** Where programs inside find it, e.g. `http://127.0.0.1:4000`. */
  address: string;
  /** What the program is given to find it by. */
  env: Record<string, string>;
  /** Resolves when a call was refused since tokens or dollars are used up. */
  overBudget: Promise<OverBudget>;
  /** What the providers failed in, where that and not the agent explains the program's end; undefined otherwise. */
  lostTo(result: ExecResult): ProviderTrouble | undefined;
  /** Starts no forwarder and answers no call any more: to be called before everything inside is ended. */
  close(): Promise<void>;
};

const folder = "gateway";

/** Before the first program runs. Throws where the sandbox has nothing to run the forwarder with. */
export async function agentGateway(sandbox: Sandbox, request: AgentGatewayRequest): Promise<AgentGateway> {
  const { providers, scratch, agent } = request;
  if (!sandbox.listen)
    throw new Error(`agent "${agent}": its sandbox (${sandbox.kind}) has no place for a model gateway`);
  // not the length or form of any provider's key; no secret either: good for this attempt and through this socket only
  const token = `mlrb-${randomBytes(16).toString("hex")}`;
  let tell: (over: OverBudget) => void = () => {};
  const overBudget = new Promise<OverBudget>((resolve) => {
    tell = resolve;
  });
  let answered = 0;
  /** Answers in a row that were none. */
  let noAnswers = 0;
  let failure: ProviderTrouble | undefined;
  const gateway = new ModelGateway({
    ...request,
    token,
    overBudget: tell,
    ended(how) {
      if (how === "answered") {
        failure = undefined;
        noAnswers = 0;
        answered++;
        return;
      }
      const { cause, whose, detail } = how.failure;
      noAnswers = causeRow(cause).retry === "once" ? noAnswers + 1 : 0;
      const tries = how.lost ?? { tries: 1, waitedMs: 0 };
      failure = new ProviderTrouble(how.model, { ...how.failure, detail: detail.slice(0, 300) }, tries);
      const atOnce = !how.gone && whose === "operator" && endsAtOnce(cause, { answered, noAnswers });
      if (how.lost || atOnce) request.failed(failure);
    },
  });
  const own = join(scratch, folder);
  await mkdir(own);
  for (const name of ["forwarder.py", "forwarder.mjs"])
    await copyFile(join(import.meta.dirname, name), join(own, name));
  await sandbox.put(own, folder, { readOnly: true });
  await sandbox.listen(gateway.server, `${folder}/model.sock`);
  const forwarder = keepForwarder(sandbox, request);
  try {
    const port = await forwarder.port;
    const address = `http://127.0.0.1:${port}`;
    return {
      address,
      env: gatewayVariables(providers, address, token),
      overBudget,
      lostTo(result) {
        const gaveUp =
          answered === 0 || result.kind === "signalled" || (result.kind === "exited" && result.code !== 0);
        return gaveUp && failure && !isAgents(failure.whose) ? failure : undefined;
      },
      async close() {
        forwarder.stop();
        await gateway.close();
      },
    };
  } catch (error) {
    forwarder.stop();
    await gateway.close();
    throw error;
  }
}

/**
 * Whether only the operator can help, so that the program need not find out. A model of several that cannot be had
 * is no such case once another has answered: the program may not need it.
 */
function endsAtOnce(cause: ModelCause, seen: { answered: number; noAnswers: number }): boolean {
  if (causeRow(cause).retry === "once") return seen.noAnswers > 1;
  return seen.answered === 0 || ["wrong-key", "out-of-money", "over-cap"].includes(cause);
}

// the sandbox decides which of the two there is: an image of Node's has no Python, a host may have no Node
const start =
  'if command -v python3 >/dev/null 2>&1; then exec python3 -I -S -B forwarder.py "$1"; fi; ' +
  'if command -v node >/dev/null 2>&1; then exec node forwarder.mjs "$1"; fi; ' +
  'echo "neither python3 nor node is on the PATH"; exit 127';

function keepForwarder(sandbox: Sandbox, { agent, path }: AgentGatewayRequest) {
  let stopped = false;
  let port = 0;
  let said = "";
  let listening: (port: number) => void = () => {};
  const once = () =>
    sandbox.exec({
      argv: ["sh", "-c", start, "forwarder", String(port)],
      cwd: sandbox.seenAs(folder),
      env: path === undefined ? {} : { PATH: path },
      onOutput(_, bytes) {
        if (port > 0) return; // whoever runs inside may write here too
        said = (said + Buffer.from(bytes).toString()).slice(-1000);
        const found = /^port (\d+)$/m.exec(said)?.[1];
        if (found === undefined) return;
        port = Number(found);
        listening(port);
      },
    });
  const first = new Promise<number>((resolve, reject) => {
    listening = resolve;
    void (async () => {
      while (!stopped) {
        const result = await once();
        if (port === 0) return reject(notBegun(agent, result, said));
        if (result.kind === "lost" || result.kind === "not-started" || ("over" in result && result.over))
          return;
        await sleep(200, undefined, { ref: false });
      }
    })().catch(reject);
  });
  return {
    port: first,
    stop() {
      stopped = true;
    },
  };
}

function notBegun(agent: string, result: ExecResult, said: string): Error {
  if (result.kind === "lost")
    return new SandboxTrouble(`the sandbox ended under agent "${agent}": ${result.detail}`);
  const why = result.kind === "not-started" ? result.detail : said.trim() || JSON.stringify(result);
  return new Error(
    `agent "${agent}": its model gateway could not be opened inside: ${why}; ` +
      "it needs sh, and python3 or node, on the PATH of the sandbox (`image` of the preset)",
  );
}

/** As the clients of the protocols read them; the first provider of a protocol is the one that they name. */
function gatewayVariables(
  providers: GatewayProvider[],
  address: string,
  token: string,
): Record<string, string> {
  const variables: Record<string, string> = { MLRB_GATEWAY: address, MLRB_GATEWAY_KEY: token };
  const of: Record<GatewayProtocol, (base: string) => Record<string, string>> = {
    anthropic: (base) => ({ ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: token }),
    // OPENAI_API_BASE: what clients read before OPENAI_BASE_URL was agreed on, litellm and with it aider
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
