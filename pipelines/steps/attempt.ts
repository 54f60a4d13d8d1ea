// One agent's attempt at one task with one seed. Fails only when the harness does: an agent that
// errs, runs out of time or hands in nothing has been measured, and the ledger says so.
//   node pipelines/steps/attempt.ts --axis task=T --axis agent=A --axis seed=1 --param kind=command \
//     --param 'command=["python3","./x.py"]' --param program=DIR --param trusted=true --param budget=5m \
//     --param prompt=FILE --input public=DIR --output submission=DIR --output trajectory=FILE …
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { chooseSandbox } from "@mlrb/agents/choose-sandbox";
import { gatewayProviders } from "@mlrb/agents/gateway/gateway-provider";
import { llmAgent, redactorOf } from "@mlrb/agents/llm-agent";
import { dollarsOf } from "@mlrb/agents/model/prices";
import { ProviderTrouble } from "@mlrb/agents/model/provider-trouble";
import { runAttempt } from "@mlrb/agents/run-attempt";
import { SandboxTrouble } from "@mlrb/agents/sandbox-trouble";
import { checkScaffold } from "@mlrb/agents/scaffold-versions";
import { dockerWalls } from "@mlrb/docker/docker-walls";
import { writeJson } from "@mlrb/kit/json-file";
import { duration } from "@mlrb/kit/rules/duration";
import { type Json, stage } from "@mlrb/kit/stage";

const { axes, params, inputs, outputs, budget, sandbox: asked } = stage();
const given = (name: string): Json => (name in params ? (params[name] ?? null) : null);

const kind = given("kind");
if (kind !== "command" && kind !== "llm" && kind !== "replay" && kind !== "nop")
  throw new Error(`kind is ${JSON.stringify(kind)}, not command, llm, replay or nop`);
const command = given("command") ?? [];
if (!Array.isArray(command) || (kind === "command" && command.length === 0))
  throw new Error("an agent of kind command needs `command: [program, argument …]` in its preset");
const version = given("scaffoldVersion");
const llm = kind === "llm" ? llmAgent(given) : undefined;
// a replay that meets another scaffold than its recording's misses, and says so
if (kind !== "replay")
  checkScaffold(
    llm?.scaffold.kind ?? (kind === "nop" ? "nop" : "command"),
    typeof version === "number" ? version : null,
  );
const recording = given("recording");
const gateway = kind === "command" ? gatewayProviders(given("gateway")) : [];
const budgetMs = budget.timeMs ?? duration(given("budget"), "budget");
const program = given("program");
const library = given("library");
const agent = String(axes.agent);

const under = process.env.MLRB_WORK ?? dirname(resolve(outputs.submission!));
const work = mkdtempSync(join(under, "attempt-"));
// what the runner laid out for this stage goes with it; what somebody named by hand stays
const isOwn = (path: string) =>
  process.env.MLRB_WORK !== undefined && resolve(path).startsWith(join(process.env.MLRB_WORK, "/"));
let sandbox: Awaited<ReturnType<typeof chooseSandbox>> | undefined;
const leave = async () => {
  await sandbox?.close();
  rmSync(work, { recursive: true, force: true });
};
for (const [signal, code] of [
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
] as const)
  process.once(signal, () => {
    process.exitCode = code;
    void leave().finally(() => process.exit(code));
  });

try {
  const trusted = kind === "nop" || given("trusted") === true;
  sandbox = await chooseSandbox(asked, { under: work, agent, trusted, containers: dockerWalls });
  const ledger = await runAttempt(sandbox, {
    task: String(axes.task),
    agent,
    seed: axes.seed!,
    kind,
    command: command.map(String),
    ...(llm && { llm }),
    ...(gateway.length > 0 && { gateway: { providers: gateway, dollarsOf } }),
    ...(typeof recording === "string" ? { recording: resolve(recording) } : {}),
    network: asked?.network === "full",
    ...(typeof program === "string" ? { program: resolve(program) } : {}),
    ...(typeof library === "string" ? { library: resolve(library) } : {}),
    ...(process.env.MLRB_PYTHON ? { python: process.env.MLRB_PYTHON } : {}),
    prompt: readFileSync(String(params.prompt), "utf8"),
    publicData: inputs.public!,
    ...("models" in inputs ? { models: inputs.models! } : {}),
    ownCopies: Object.values(inputs).every(isOwn),
    budgetMs,
    budget: {
      ...(budget.tokens && { tokens: budget.tokens }),
      ...(budget.dollars && { dollars: budget.dollars }),
    },
    ...(process.env.MLRB_WORK !== undefined && { spending: join(process.env.MLRB_WORK, "spending.jsonl") }),
    redact: redactorOf(given("secrets")),
    outputs: {
      submission: outputs.submission!,
      trajectory: outputs.trajectory!,
      ledger: outputs.ledger!,
      snapshots: outputs.snapshots!,
      ...("attachments" in outputs && { attachments: outputs.attachments! }),
    },
    scratch: mkdtempSync(join(work, "scratch-")),
    limits: { bytesMax: 64 * 2 ** 30, filesMax: 100_000 },
    gpus: asked?.gpus ?? [],
    ownImage: asked?.image !== undefined,
  });
  // in what it ran, for the record; beside the outputs, which tell no machine
  if (process.env.MLRB_WORK !== undefined)
    writeJson(join(process.env.MLRB_WORK, "where.json"), { sandbox: sandbox.kind, ...sandbox.where?.() });
  console.log(`${agent}: ${ledger.ended}, ${ledger.submission.files} files handed in`);
} catch (error) {
  const cause = troubleCause(error);
  if (cause === undefined || process.env.MLRB_WORK === undefined) throw error;
  // told to whoever supervises this step: not the agent's failure, nor this program's
  const { message } = error as Error;
  writeJson(join(process.env.MLRB_WORK, "trouble.json"), { cause, detail: message });
  console.error(message);
  process.exitCode = 75;
} finally {
  await leave();
}

function troubleCause(error: unknown): "machine" | "operator" | undefined {
  if (error instanceof SandboxTrouble) return "machine";
  if (!(error instanceof ProviderTrouble) || error.whose === "harness") return undefined;
  return error.whose === "operator" ? "operator" : "machine";
}
