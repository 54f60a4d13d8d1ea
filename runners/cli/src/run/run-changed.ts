// `pipeline run` when something may have changed: plan, decide by content, run what must be run.

import { relative } from "node:path";
import { queuedWords } from "@mlrb/core/schedule/queued-for";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { collectEndedAttempts, goingKeys } from "@mlrb/local/attempts/collect-ended-attempts";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { consultAllFiles, consultScriptedPipelines } from "@mlrb/local/decide/stat-all-plan-files";
import type { RemoteCache } from "@mlrb/local/remote/remote-cache";
import { publishResults } from "@mlrb/local/run/publish-results";
import type { Result } from "@mlrb/local/run/result";
import { startRun } from "@mlrb/local/run/run-plan";
import { leftStale, type RunEvent, type RunPurse } from "@mlrb/local/run/run-request";
import { serviceTotals } from "@mlrb/local/services/service-hours";
import { clearDeadWork } from "@mlrb/local/stage/work-folders";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import { resultsBefore } from "../against/rescored-run.ts";
import { agentLines } from "../attempts/agent-line.ts";
import { waitsOf } from "../attempts/read-states.ts";
import { spendingNow } from "../attempts/spending-now.ts";
import { type Trouble, troublesOf } from "../attempts/troubles.ts";
import { refreshPage } from "../attempts/write-page.ts";
import { type Deciding, stalePolicy } from "../gates/gate.ts";
import { leaseSilence } from "../gates/lease-silence.ts";
import { runPurse } from "../gates/price-gate.ts";
import { mayRun } from "../gates/run-gates.ts";
import { endRemote, openRemote } from "../remote/remote-run.ts";
import { printDiagnostics, refuse } from "../request/refuse.ts";
import { rememberedRequest } from "../request/remembered-request.ts";
import type { Request } from "../request/request.ts";
import type { RunCommandOptions, RunInvocation } from "../request/run-invocation.ts";
import { lastLines } from "../show/last-lines.ts";
import { oneLine, printJson } from "../show/print.ts";
import { isWatched, tellWatcher } from "../watch/watcher-channel.ts";
import { eventCommand } from "./event-command.ts";
import { clearSandbox, executorsOf, supervisors } from "./executors.ts";
import { firstRows } from "./first-rows.ts";
import { forecast } from "./forecast.ts";
import { leaving } from "./leave-attempts.ts";
import { failuresOf, printFailures } from "./print-failures.ts";
import { Progress } from "./progress.ts";
import { rememberNoOp } from "./remember-no-op.ts";
import { printEnd, type RunSummary } from "./run-summary.ts";
import { RunTally } from "./run-tally.ts";
import { serviceWords } from "./service-words.ts";
import { stageLine } from "./stage-lines.ts";
import { takeOverSilent } from "./take-over-silent.ts";
import { untilFinished } from "./until-finished.ts";

type Wanted = {
  pipeline: string;
  options: RunCommandOptions;
  jobs: number | undefined;
  begin: number;
  change?: PlanChange;
};

/** What a command changes in a plan before anything is decided. */
type PlanChange = {
  plan(request: Request, workspace: Workspace): Promise<Request | Diagnostic>;
  /** Called once everything and everybody agrees to the run. */
  begin?(): Diagnostic | undefined;
};

/** A run that may start. */
type ReadyRun = Wanted & {
  invocation: RunInvocation;
  consulted: Consulted;
  request: Request;
  gate: Deciding;
  purse: RunPurse;
  silentMs: number | undefined;
  remote: RemoteCache | undefined;
};

/** Of one check that are shown; `log` has all. */
const checkedLinesMax = 8;

/** A run that has ended. */
type EndedRun = { run: string; results: (Result | undefined)[]; tally: RunTally; interrupts: number };

export async function runChanged(invocation: RunInvocation, wanted: Wanted): Promise<number> {
  const { repository } = invocation;
  const { pipeline, options } = wanted;
  const silentMs = leaseSilence();
  if (typeof silentMs === "object") return refuse([silentMs], options.json);
  const consulted = new Consulted(repository);
  // consults the runner's sources too, before they change: a run may take hours
  const planned = await rememberedRequest(repository, pipeline, options, consulted);
  if (isWatched()) await consultScriptedPipelines({ ...invocation, consulted });
  if (!planned) {
    await tellWatcher(consulted, false);
    return 2;
  }
  const purse = runPurse(options);
  if ("code" in purse) return refuse([purse], options.json);
  const { pipeline: name, profile } = planned.plan;
  const at = { repository, root: planned.root, pipeline: name, profile };
  const workspace = openWorkspace({ ...at, consulted });
  if (options.takeOver) await takeOverSilent(workspace, { silentMs, json: options.json });
  await clearDeadWork(workspace.state.work);
  await collectEndedAttempts(workspace, {
    tell: (line) => process.stderr.write(`${oneLine(line)}\n`),
    clearSandbox,
  });
  const request = (await wanted.change?.plan(planned, workspace)) ?? planned;
  if ("code" in request) return refuse([request], options.json);
  const { plan, selected } = request;
  const gate = { workspace, stale: stalePolicy(plan, options) };
  const files = { plan, selected, workspace };
  const may = await mayRun(request, gate, { purse, options });
  if (may === "again") return runChanged(invocation, wanted);
  if (!may) {
    await tellAll(files, consulted);
    return 2;
  }
  const remote = await openRemote(options.remoteCache, workspace);
  if (remote && "code" in remote) return refuse([remote], options.json);
  const trouble = wanted.change?.begin?.();
  if (trouble) return refuse([trouble], options.json);
  const ready = { ...wanted, invocation, consulted, request, gate, purse, silentMs, remote };
  const ended = await execute(ready);
  await tellAll(files, consulted);
  return finish(ready, ended);
}

async function execute({ request, gate, purse, silentMs, remote, ...wanted }: ReadyRun): Promise<EndedRun> {
  const { plan, selected, root } = request;
  const { workspace, stale } = gate;
  const { pipeline, options, jobs } = wanted;
  const { repository } = workspace;
  const going = goingKeys(workspace, performance.timeOrigin);
  const tally = new RunTally(workspace);
  let queued: () => string = () => "";
  const waits = () => waitsOf(plan, { state: workspace.state, repository, root });
  const progress = new Progress({
    total: selected.length,
    quiet: options.json,
    stream: process.stderr,
    forecast: forecast({ plan, selected, jobs, workspace }),
    queued: () => queued(),
    agentLines: () => agentLines(workspace.state, plan),
    spent: () => spendingNow(workspace, { plan, ...tally.soFar() }),
    waits,
  });
  const told = eventCommand(options.onEvent, { plan, waits, say: (line) => progress.note(line) });
  const run = startRun({
    takeOver: options.takeOver ?? false,
    silentMs,
    plan,
    selected,
    workspace,
    executors: executorsOf(repository),
    supervisors,
    clearSandbox,
    purse,
    remote,
    jobs,
    failFast: options.failFast ?? false,
    unsafeLocal: options.unsafeLocal ?? false,
    weakLimits: options.weakLimits || plan.weakLimits,
    stale,
    going,
    onEvent: (event) => {
      progress.show(event);
      for (const line of checkedLines(event)) progress.note(line);
      tally.add(event);
      told?.ended(event);
      if (event.kind === "ended")
        void rowsOf(event.instance, run.results()).then((table) => progress.table(table));
      if (options.json && event.kind === "ended") printJson(stageLine(event));
    },
  });
  queued = () => queuedWords(run.queued());
  const rowsOf = firstRows({ plan, selected, workspace });
  const interrupts = await untilFinished(run, progress, {
    left: tally.left,
    ...leaving({ state: workspace.state, json: options.json, asked: { pipeline, options } }),
  });
  const results = await run.finished;
  told?.runEnded(tally.counts);
  await told?.finished();
  await endRemote(remote, { interrupts, json: options.json });
  return { run: run.run, results, tally, interrupts };
}

/** Publishes the results and prints how the run ended; its exit status. */
async function finish(ready: ReadyRun, ended: EndedRun): Promise<number> {
  const { request, gate, pipeline, options, begin } = ready;
  const { plan, root } = request;
  const { workspace } = gate;
  const { run, results, tally, interrupts } = ended;
  const { counts } = tally;
  const before = await resultsBefore(plan, { results, workspace });
  const published = publishResults(plan, results, workspace);
  const clashes = published?.problems ?? [];
  printDiagnostics(clashes, options.json);
  const page =
    published && (await refreshPage({ plan, workspace, folder: published.folder, options }, counts));
  const summary: RunSummary = {
    pipeline: plan.pipeline,
    profile: plan.profile,
    counts,
    ...(published && { results: relative(root, published.folder) }),
    lines: "",
  };
  // on a terminal the failures are printed after the tables, where they are seen
  if (!options.json && !process.stdout.isTTY) printFailures(plan, results, workspace.state.logs);
  const cost = tally.spent(results);
  const ofPlan = { pipeline: plan.pipeline, profile: plan.profile };
  const services = serviceTotals(workspace.state, { ...ofPlan, run });
  const rescored = published && before?.rescored(published.folder, run);
  const checked = await printEnd(
    {
      ...summary,
      ...(rescored && { rescored }),
      ...(cost && { spent: cost }),
      ...(services.length > 0 && { services }),
    },
    {
      root,
      json: options.json,
      durationMs: Math.round(performance.now() - begin),
      run,
      asked: { pipeline, options },
      failures: failuresOf(plan, results, { logs: workspace.state.logs, root: options.root }),
      troubles: troublesIn(ready, results),
      services: serviceWords(services, serviceTotals(workspace.state, ofPlan)),
      leftStale: results.filter((result) => result?.outcome === leftStale).length,
    },
  );
  if (plan.diagnose) await writeDiagnosis(ready);
  if (clashes.length === 0 && !ready.change)
    rememberNoOp(ready, ended, {
      summary: { ...summary, checked },
      files: [...(published?.files ?? []), ...(page ? [page] : [])],
    });
  if (interrupts > 0 && counts.cancelled > 0) return 130;
  return counts.failed + counts.skipped + counts.cancelled + clashes.length > 0 ? 1 : 0;
}

/** What a check of reference models found, with each published value: the attempts start after it. */
function checkedLines(event: RunEvent): string[] {
  if (event.kind !== "ended" || event.instance.stage.role !== "reference-check") return [];
  return event.outcome.kind === "succeeded" && event.log ? lastLines(event.log, checkedLinesMax) : [];
}

function troublesIn(
  { request: { plan, root }, gate: { workspace }, pipeline, options }: ReadyRun,
  results: (Result | undefined)[],
): Trouble[] {
  const { state, repository } = workspace;
  const ended = plan.instances.flatMap(({ id, index }) =>
    results[index] ? [{ stage: id, outcome: results[index].outcome }] : [],
  );
  const waits = waitsOf(plan, { state, repository, root });
  return troublesOf(ended, { state, slot: plan, waits, asked: { pipeline, options } });
}

/** The diagnostic bundle that a profile wants. It does not change how the run ended. */
async function writeDiagnosis({ request: { plan }, gate, pipeline, options }: ReadyRun): Promise<void> {
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  try {
    const { writeBundle, bundleWords } = await import("../diagnose/diagnose-command.ts");
    const asked = { typed: pipeline, set: options.set, to: undefined };
    say(bundleWords(await writeBundle({ plan, workspace: gate.workspace, ...asked })));
  } catch (error) {
    say(`no diagnostic bundle was written: ${(error as Error).message}`);
  }
}

/** Sends a watcher every file that the plan depends on. */
async function tellAll(planned: Parameters<typeof consultAllFiles>[0], consulted: Consulted): Promise<void> {
  if (!isWatched()) return;
  await consultAllFiles(planned);
  await tellWatcher(consulted, true);
}
