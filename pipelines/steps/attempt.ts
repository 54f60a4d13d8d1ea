// One agent's attempt at one task with one seed. Fails only when the harness does: an agent that
// errs, runs out of time or submits nothing has been measured, and the ledger records that.
//   node pipelines/steps/attempt.ts --axis task=T --axis agent=A --axis seed=1 --param kind=command \
//     --param 'command=["python3","./x.py"]' --param program=DIR --param trusted=true --budget time=5m \
//     --param prompt=FILE --input public=DIR --output submission=DIR --output trajectory=FILE …
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { attemptParams } from "@mlrb/agents/attempt/attempt-params";
import { checkScaffold } from "@mlrb/agents/attempt/check-scaffold";
import { Interrupted } from "@mlrb/agents/attempt/interruption";
import { llmAgent, secretRedactor } from "@mlrb/agents/attempt/llm-agent";
import { withAfterword } from "@mlrb/agents/attempt/render-prompt";
import { runAttempt } from "@mlrb/agents/attempt/run-attempt";
import { submissionCheck } from "@mlrb/agents/attempt/submission-check";
import { inside } from "@mlrb/agents/attempt/workspace";
import { gatewayProviders } from "@mlrb/agents/gateway/gateway-provider";
import { downloadsRequest } from "@mlrb/agents/hub/downloads-request";
import { ProviderTrouble } from "@mlrb/agents/model/provider-trouble";
import { openPersonDesk, type PersonDesk } from "@mlrb/agents/person/person-desk";
import { ReplayMiss } from "@mlrb/agents/record/replay-miss";
import { readEarlier } from "@mlrb/agents/resume/earlier-attempt";
import { chooseSandbox } from "@mlrb/agents/sandbox/choose-sandbox";
import { SandboxTrouble } from "@mlrb/agents/sandbox/sandbox-trouble";
import { attemptPurse } from "@mlrb/agents/spending/attempt-purse";
import { priceBook } from "@mlrb/agents/spending/prices";
import { teamRequest } from "@mlrb/agents/team/team-request";
import { attemptWaiting } from "@mlrb/agents/waiting/attempt-waiting";
import type { dockerWalls } from "@mlrb/docker/docker-walls";
import { interventionsFile } from "@mlrb/formats/declared/intervention";
import { stepClaim } from "@mlrb/kit/attempts/attempt-claim";
import { restorePointsFolder } from "@mlrb/kit/attempts/left-restore-point";
import { beginRestore, leftSandbox, removeCutRestores } from "@mlrb/kit/attempts/left-sandbox";
import { purseFile } from "@mlrb/kit/attempts/purse";
import { isFullDisk, reserveFile, writeReserved } from "@mlrb/kit/files/full-disk";
import { writeJson } from "@mlrb/kit/json-file";
import { sealTimes } from "@mlrb/kit/processes/seal-times";
import { sourceFile, sourceFolder } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";

const interruptedCode = 143;
const troubleCode = 75;
/** How long a new attempt waits for the terminal of its person. */
const terminalMs = 10 * 60_000;

const { axes, params, inputs, outputs, budget, sandbox: asked, waits: patience } = stage();
const preset = attemptParams(params);
const { kind, command = [], program, library, recording, liveTools = false, secrets = [], prompt } = preset;
const llm = kind === "llm" ? llmAgent(preset) : undefined;
// a replay under another scaffold than its recording's reports the first request that differs
if (kind !== "replay")
  checkScaffold(llm?.scaffold.kind ?? (kind === "llm" ? "react" : kind), preset.scaffoldVersion);
const team = kind === "team" ? teamRequest(preset) : undefined;
const gateway = kind === "command" ? gatewayProviders(preset.gateway ?? []) : [];
/** Whose keys a person may replace. */
const called = [{ llm, gateway }, ...(team?.members ?? [])];
const { timeMs } = budget;
if (timeMs === undefined) throw new Error("an attempt needs budget: { time } in its stage");
const agent = String(axes.agent);
const gpuMemoryBytes = asked?.limits.gpuMemoryBytes;
/** The attempt's folder; undefined if this step is run by hand. */
const folder = process.env.MLRB_WORK;
const purse = folder === undefined ? undefined : attemptPurse(join(folder, purseFile), basename(folder));
const prices = purse?.prices ?? priceBook([]);

const containers: typeof dockerWalls = async (...asked) =>
  (await import("@mlrb/docker/docker-walls")).dockerWalls(...asked); // most attempts have none

const redactor = secretRedactor(secrets);
const waits =
  folder === undefined
    ? undefined
    : attemptWaiting({
        ...{ folder, repository: process.cwd(), secrets, redactor },
        llms: called.flatMap(({ llm }) => llm ?? []),
        providers: called.flatMap(({ gateway }) => gateway ?? []),
        ...(patience && { patience }),
        say: (line) => console.log(line),
      });

const holdsClaim = folder === undefined ? () => true : stepClaim(folder);
/** At once and without a word: the files of the attempt are another supervisor's. */
function checkClaim(): void {
  if (holdsClaim()) return;
  process.kill(process.pid, "SIGKILL");
  throw new Error("another supervisor continues this attempt");
}

/** Whether the supervisor or host of the attempt died. */
const continues =
  folder !== undefined && existsSync(outputs.trajectory!) && statSync(outputs.trajectory!).size > 0;
const restorePoints = folder && join(folder, restorePointsFolder);
if (continues) await removeCutRestores(folder);
/** The sandbox of an attempt whose supervisor or host died. It continues where that ended. */
const left = continues ? leftSandbox(folder) : undefined;
const work = left?.work ?? mkdtempSync(join(folder ?? dirname(resolve(outputs.submission!)), "attempt-"));
/** Marked before the sandbox is made: its empty disk image would count as kept files. */
const restored = continues && !left ? beginRestore(work) : undefined;
// inputs that the runner copied for this stage may be moved; a folder that a person named by hand stays
const isOwn = (path: string) => folder !== undefined && resolve(path).startsWith(join(folder, "/"));
let sandbox: Awaited<ReturnType<typeof chooseSandbox>> | undefined;
const interrupted = new AbortController();
let desk: PersonDesk | undefined;
let done = false;
// repeatedly: the whole group and its supervisor may each send one
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
  process.on(signal, () => {
    if (interrupted.signal.aborted) return;
    interrupted.abort(new Interrupted(signal));
    setTimeout(() => process.exit(interruptedCode), sealTimes.exit).unref();
  });

try {
  // room to report the trouble on a full disk
  if (folder !== undefined) reserveFile(join(folder, "trouble.json"), 4 << 10);
  const trusted = kind === "nop" || preset.trusted === true;
  const check = submissionCheck(process.cwd(), "scorer_library.check_submission", {
    folders: ["runners/kit/python", "scorers/library"], // of python-path.txt, which is in no key of an attempt
    memoryBytes: asked?.limits.memoryBytes,
    ownImage: asked?.image !== undefined && asked.image !== "host",
  });
  const earlier = continues
    ? await readEarlier({
        ...{ trajectory: outputs.trajectory!, spending: join(folder, "spending.jsonl") },
        ...(!left && { restorePoints: restorePoints! }),
      })
    : undefined;
  if (typeof earlier === "string") throw new Error(`the attempt cannot continue: ${earlier}`);
  if (kind === "person") {
    if (folder === undefined) throw new Error("an attempt of a person needs a run: use `attempts human`");
    desk = await openPersonDesk(folder, earlier?.person);
    // an attempt that has begun costs nothing before the person comes back, and no other may take its place
    if (!(await desk.greeted(earlier ? Number.POSITIVE_INFINITY : terminalMs, interrupted.signal)))
      throw new SandboxTrouble("no person came; use `attempts human`");
  }
  sandbox = await chooseSandbox(asked, {
    ...(left && { earlier: { root: left.root, readOnly: [inside.data, inside.models] } }),
    ...{ under: work, agent, trusted, alsoReads: check.reads, containers },
  });
  const ledger = await runAttempt(sandbox, {
    ...{ task: String(axes.task), agent, seed: axes.seed!, kind, command, prices },
    ...(earlier && { earlier }),
    ...(restored && { restored }),
    ...(restorePoints !== undefined && { restorePoints }),
    ...(llm && { llm }),
    ...(team && { team }),
    ...(gateway.length > 0 && { gateway }),
    ...(desk && { person: { desk, pauseMs: (preset.pauseHours ?? 0) * 3_600_000 } }),
    ...(purse && kind !== "replay" && { purse }), // nothing is paid for a replay
    ...(recording !== undefined && { recording: sourceFolder(recording), liveTools }),
    network: asked?.network === "full",
    ...(asked?.network === "hub" && { downloads: downloadsRequest(inputs.manifest, asked.limits.diskBytes) }),
    ...(program !== undefined && { program: sourceFolder(program) }),
    ...(library !== undefined && { library: sourceFolder(library) }),
    ...(process.env.MLRB_PYTHON ? { python: process.env.MLRB_PYTHON } : {}),
    check,
    prompt: withAfterword(
      readFileSync(sourceFile(prompt), "utf8"),
      "text" in inputs ? readFileSync(inputs.text!, "utf8") : undefined,
    ),
    // of the official package, for data whose tasks have its prompt
    ...("prompt" in inputs && { foreword: readFileSync(inputs.prompt!, "utf8") }),
    starters: ["starter", "help"].flatMap((name) => (name in inputs ? inputs[name]! : [])),
    publicData: inputs.public!,
    ...(asked && { cpus: asked.limits.cpus, memoryBytes: asked.limits.memoryBytes }),
    ...(gpuMemoryBytes !== undefined && { gpuMemoryBytes }),
    ...("models" in inputs ? { models: inputs.models! } : {}),
    ownCopies: Object.values(inputs).every(isOwn),
    budget: { ...budget, timeMs },
    ...(folder !== undefined && {
      ...(kind !== "replay" && { spending: join(folder, "spending.jsonl") }),
      ...{ interventions: join(folder, interventionsFile), checkClaim },
    }),
    redact: redactor.redact,
    ...(waits && { waits }),
    outputs: {
      submission: outputs.submission!,
      trajectory: outputs.trajectory!,
      ledger: outputs.ledger!,
      snapshots: outputs.snapshots!,
      ...("attachments" in outputs && { attachments: outputs.attachments! }),
      ...("workspace" in outputs && { workspace: outputs.workspace! }),
    },
    scratch: mkdtempSync(join(work, "scratch-")),
    limits: { bytesMax: 64 * 2 ** 30, filesMax: 100_000 },
    gpus: asked?.gpus ?? [],
    interrupted: interrupted.signal,
    ownImage: asked?.image !== undefined,
  });
  // provenance, next to the outputs, which name no machine
  if (folder !== undefined)
    writeJson(join(folder, "where.json"), {
      sandbox: sandbox.kind,
      ...sandbox.where?.(),
      ...(ledger.resumed !== undefined && { resumed: String(ledger.resumed) }),
      ...(gpuMemoryBytes !== undefined && { gpuMemoryBytes: String(gpuMemoryBytes) }),
    });
  console.log(`${agent}: ${ledger.ended}, ${ledger.submission.files} files submitted`);
  done = true;
} catch (error) {
  if (error instanceof Interrupted) {
    console.error(`${agent}: ${error.message}`);
    process.exitCode = interruptedCode;
  } else {
    const known =
      [SandboxTrouble, ProviderTrouble, ReplayMiss].some((kind) => error instanceof kind) ||
      isFullDisk(error);
    if (!known) throw error;
    const cause = troubleCause(error);
    const detail = redactor.redact((error as Error).message);
    console.error(detail); // a stack would add nothing
    process.exitCode = cause === "harness" ? 1 : troubleCode;
    // for the supervisor of this step: neither the agent's failure nor this program's
    // `begun`: without a sandbox nothing of the agent ran, and another machine may have one
    if (folder !== undefined)
      writeReserved(
        join(folder, "trouble.json"),
        JSON.stringify({ cause, detail, ...(sandbox === undefined && { begun: "no" }) }),
      );
  }
} finally {
  // without a record the workspace stays: the supervisor of this step quarantines all of it
  const keepFiles = !done && folder !== undefined;
  await desk?.close();
  await waits?.desk.close();
  await sandbox?.close({ keepFiles });
  if (!keepFiles) rmSync(work, { recursive: true, force: true });
}

/** `harness`: another try would fail in the same way. */
function troubleCause(error: unknown): "machine" | "operator" | "harness" {
  if (error instanceof ReplayMiss) return "harness";
  if (!(error instanceof ProviderTrouble)) return "machine";
  return error.whose === "operator" || error.whose === "harness" ? error.whose : "machine";
}
