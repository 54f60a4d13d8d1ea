// The long way of `pipeline run`: plan, decide by content, carry out what must be.

import { existsSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { Reason } from "@mlrb/core/key/reasons";
import { environmentStage, type Plan } from "@mlrb/core/plan/plan";
import { type OutcomeKind, outcomeCause } from "@mlrb/core/ports/outcome";
import { queuedWords } from "@mlrb/core/schedule/queued-for";
import { formatDuration } from "@mlrb/core/text/units";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { waitingAttempts } from "@mlrb/local/attempts/attempt-waits";
import { collectEndedAttempts, goingKeys } from "@mlrb/local/attempts/collect-ended-attempts";
import { Consulted } from "@mlrb/local/decide/consulted-files";
import { rememberUnchanged } from "@mlrb/local/decide/no-op-fast-path";
import { consultAllFiles, consultScriptedPipelines } from "@mlrb/local/decide/stat-all-plan-files";
import { ownerWords } from "@mlrb/local/leases/owner";
import { takeOver } from "@mlrb/local/leases/take-over";
import { environmentKey, environmentPath, environmentPython } from "@mlrb/local/process/environments";
import { findPython } from "@mlrb/local/process/find-python";
import { type CostEstimate, estimateCost } from "@mlrb/local/records/estimate-cost";
import { publishResults } from "@mlrb/local/run/publish-results";
import type { Result } from "@mlrb/local/run/result";
import { startRun } from "@mlrb/local/run/run-plan";
import { leftStale, type RunEvent } from "@mlrb/local/run/run-request";
import { type Audited, hasStrace } from "@mlrb/local/stage/read-trace";
import { clearDeadWork } from "@mlrb/local/stage/work-folders";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import type { PageRequest } from "../attempts/page-data.ts";
import { pageFile, writePage } from "../attempts/write-page.ts";
import { containerGate } from "../gates/container-gate.ts";
import { costAgreed } from "../gates/cost-gate.ts";
import { gpuGate } from "../gates/gpu-gate.ts";
import { keyGate } from "../gates/key-gate.ts";
import { leaseSilence } from "../gates/lease-silence.ts";
import { priceGate, runPurse } from "../gates/price-gate.ts";
import { type Attempted, spent } from "../gates/spent.ts";
import { stalePolicy } from "../gates/stale-policy.ts";
import { printProblems, readRequest, sayProblems } from "../request/request.ts";
import type { RunCommandOptions, RunInvocation } from "../request/run-invocation.ts";
import { shownWait } from "../show/wait-words.ts";
import { clearSandbox, executorsOf } from "./executors.ts";
import { forecast } from "./forecast.ts";
import { leaving } from "./leave-attempts.ts";
import { Progress } from "./progress.ts";
import { type RunSummary, sayEnd } from "./run-summary.ts";
import { noStrace, sayAudit } from "./say-audit.ts";
import { failuresOf, sayFailures } from "./say-failures.ts";
import { type LeftAttempt, untilFinished } from "./until-finished.ts";
import { isWatched, tellWatcher } from "./watched.ts";

type Wanted = { pipeline: string; options: RunCommandOptions; jobs: number | undefined; begin: number };

export async function runChanged(
  asked: RunInvocation,
  { pipeline, options, jobs, begin }: Wanted,
): Promise<number> {
  const { repository } = asked;
  const silentMs = leaseSilence();
  if (typeof silentMs === "object") {
    printProblems([silentMs], options.json);
    return 2;
  }
  const consulted = new Consulted(repository);
  const request = await readRequest(repository, pipeline, options, consulted);
  if (isWatched()) await consultScriptedPipelines({ ...asked, consulted });
  if (!request) {
    await tellWatcher(consulted, false);
    return 2;
  }
  const { plan, selected, root } = request;
  const at = { repository, root, pipeline: plan.pipeline, profile: plan.profile, consulted };
  const findings: Audited[] = [];
  const audit = options.audit ? (found: Audited) => void findings.push(found) : undefined;
  if (audit && !hasStrace()) {
    printProblems([noStrace], options.json);
    return 2;
  }
  const workspace = { ...openWorkspace(at), ...(audit && { audit }) };
  const leases = { takeOver: options.takeOver ?? false, silentMs };
  if (leases.takeOver) await takeOverSilent(workspace, { silentMs, json: options.json });
  await clearDeadWork(workspace.state.work);
  await collectEndedAttempts(workspace, { tell: (line) => process.stderr.write(`${line}\n`), clearSandbox });
  const going = goingKeys(workspace, performance.timeOrigin);
  const stale = stalePolicy(plan, options);
  const purse = runPurse(options);
  if ("code" in purse) {
    printProblems([purse], options.json);
    return 2;
  }
  const gate = { workspace, stale };
  const lacking = [
    await keyGate(request, gate),
    await priceGate(request, gate, purse),
    await containerGate(request, gate),
    await gpuGate(request, gate),
  ].filter((problem) => problem !== undefined);
  if (lacking.length > 0) printProblems(lacking, options.json);
  const mayRun = lacking.length === 0 && (await costAgreed({ plan, selected, workspace, stale }, options));
  if (!mayRun) {
    await tellAll({ plan, selected, workspace }, consulted);
    return 2;
  }

  let queued: () => string = () => "";
  const progress = new Progress({
    total: selected.length,
    quiet: options.json,
    stream: process.stderr,
    forecast: forecast({ plan, selected, jobs, workspace }),
    queued: () => queued(),
    waits: () =>
      waitingAttempts(workspace.state.running)
        .filter(({ card: { slot } }) => slot.pipeline === plan.pipeline && slot.profile === plan.profile)
        .map((one) => shownWait(one, { repository, root })),
  });
  const counts: Record<OutcomeKind, number> = {
    succeeded: 0,
    reused: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
  };
  const ended = new Map<number, OutcomeKind>();
  const estimates = new Map<number, CostEstimate>();
  const left: LeftAttempt[] = [];
  const run = startRun({
    ...leases,
    plan,
    selected,
    workspace,
    executors: executorsOf(repository),
    clearSandbox,
    purse,
    jobs,
    failFast: options.failFast ?? false,
    unsafeLocal: options.unsafeLocal ?? false,
    stale,
    going,
    onEvent: (event) => {
      progress.show(event);
      if (event.kind === "left") left.push(event);
      if (event.kind === "started" && event.instance.stage.durable)
        estimates.set(event.instance.index, estimateCost(event.instance, workspace));
      if (event.kind !== "ended") return;
      // what was found damaged is asked again, and ends again
      const before = ended.get(event.instance.index);
      if (before !== undefined) counts[before]--;
      ended.set(event.instance.index, event.outcome.kind);
      counts[event.outcome.kind]++;
      if (options.json) process.stdout.write(`${JSON.stringify(stageLine(event))}\n`);
    },
  });
  queued = () => queuedWords(run.queued());
  const interrupts = await untilFinished(run, progress, {
    left,
    ...leaving({ state: workspace.state, json: options.json, asked: { pipeline, options } }),
  });
  const results = await run.finished;
  await tellAll({ plan, selected, workspace }, consulted);

  const published = publishResults(plan, results, workspace);
  const clashes = published?.problems ?? [];
  sayProblems(clashes, options.json);
  const page =
    published && (await laidOutPage({ plan, workspace, folder: published.folder, options }, counts));
  const cost = spent([...estimates].map(([index, estimate]) => attempted(estimate, results[index])));
  const said: RunSummary = {
    pipeline: plan.pipeline,
    profile: plan.profile,
    counts,
    ...(published && { results: relative(root, published.folder) }),
    lines: "",
  };
  // on a terminal they are told where they are seen: after the tables
  if (!options.json && !process.stdout.isTTY) sayFailures(plan, results, workspace.state.logs);
  const checked = await sayEnd(
    { ...said, ...(cost && { spent: cost }) },
    {
      root,
      json: options.json,
      durationMs: Math.round(performance.now() - begin),
      run: run.run,
      asked: { pipeline, options },
      failures: failuresOf(plan, results, { logs: workspace.state.logs, root: options.root }),
      leftStale: results.filter((result) => result?.outcome === leftStale).length,
    },
  );
  const undeclared = options.audit ? sayAudit(findings, options.json) : 0;
  const isWhole =
    !options.audit && counts.reused + counts.succeeded === selected.length && clashes.length === 0;
  if (isWhole && stale.kind !== "accept") {
    const more = [...(published?.files ?? []), ...(page ? [page] : []), ...restsOn(plan, results, workspace)];
    const next = { ...said, checked, counts: { ...counts, succeeded: 0, reused: selected.length } };
    rememberUnchanged(asked, {
      consulted,
      more,
      said: { ...next, lines: options.json ? reusedLines(plan, selected) : "" },
    });
  }
  if (interrupts > 0 && counts.cancelled > 0) return 130;
  return counts.failed + counts.skipped + counts.cancelled + clashes.length + undeclared > 0 ? 1 : 0;
}

/** Tells who watches of every file that the plan depends on. */
async function tellAll(planned: Parameters<typeof consultAllFiles>[0], consulted: Consulted): Promise<void> {
  if (!isWatched()) return;
  await consultAllFiles(planned);
  await tellWatcher(consulted, true);
}

/** The page beside what was published: made anew where anything ran or changed. What is wrong with it ends no run. */
async function laidOutPage(
  asked: PageRequest,
  { succeeded, failed, skipped, cancelled }: Record<OutcomeKind, number>,
): Promise<string | undefined> {
  const path = join(asked.folder, pageFile);
  const changedMs = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newer = existsSync(path) && changedMs(path) >= changedMs(join(asked.folder, "report.json"));
  if (succeeded + failed + skipped + cancelled === 0 && newer) return path;
  try {
    return await writePage(asked);
  } catch (error) {
    process.stderr.write(`no-page: ${path} could not be made: ${(error as Error).message}\n`);
    return undefined;
  }
}

/** Lets go of what hosts hold that stay silent for as long as this takes; says which. */
async function takeOverSilent(
  { state }: Workspace,
  { silentMs, json }: { silentMs: number | undefined; json: boolean },
): Promise<void> {
  const say = (text: string) => json || process.stderr.write(`${text}\n`);
  const watching = (owner: Owner, ms: number) =>
    say(`watches ${ownerWords(owner)}, for ${formatDuration(ms)} or a heartbeat`);
  for (const owner of await takeOver(state, { silentMs, watching })) {
    say(`taken over from ${ownerWords(owner)}: it was silent`);
    const { host, pid, since } = owner;
    if (json) process.stdout.write(`${JSON.stringify({ event: "take-over", host, pid, since })}\n`);
  }
}

function attempted(estimate: CostEstimate, result: Result | undefined): Attempted {
  const record = result?.record?.record;
  if (record) return { estimate, cost: record.cost, durationMs: record.ran.durationMs };
  const lost = result?.quarantined;
  return { estimate, cost: null, durationMs: lost?.durationMs ?? 0, ...(lost && { lost: lost.cost }) };
}

/** What outside the repository must stay for everything to be reused again. */
function restsOn(plan: Plan, results: (Result | undefined)[], workspace: Workspace): string[] {
  const { state } = workspace;
  const environments = plan.instances
    .filter(({ stage }) => stage.name === environmentStage)
    .map(({ action }) => environmentPath(state, environmentKey(String(action.params.lock), workspace)));
  const python = environments.length > 0 ? findPython(state.memory)?.path : undefined;
  return [
    ...environments.flatMap((path) => [`${path}/ready.json`, environmentPython(path)]),
    ...(python ? [python] : []),
    `${state.attempts}/records`,
    ...results.flatMap((result) =>
      result?.record ? [`${state.attempts}/records/${result.record.digest}/record.json`] : [],
    ),
    `${state.state}/format.json`,
  ];
}

/** What the next run says of each instance if nothing changes. */
function reusedLines(plan: Plan, selected: number[]): string {
  return selected
    .map((index) => {
      const { id, stage } = plan.instances[index]!;
      const line: StageLine = {
        event: "stage",
        stage: id,
        name: stage.name,
        outcome: "reused",
        reasons: [{ kind: "unchanged" }],
        durationMs: 0,
      };
      return `${JSON.stringify(line)}\n`;
    })
    .join("");
}

type StageLine = {
  event: "stage";
  stage: string;
  name: string;
  outcome: OutcomeKind;
  reasons: Reason[];
  durationMs: number;
};

function stageLine(event: RunEvent & { kind: "ended" }): StageLine & Record<string, unknown> {
  const { instance, outcome, reasons, durationMs, log } = event;
  const cause = outcomeCause(outcome);
  return {
    event: "stage",
    stage: instance.id,
    name: instance.stage.name,
    outcome: outcome.kind,
    reasons,
    durationMs,
    ...(cause && { cause }),
    ...(outcome.kind === "failed" && { failure: outcome.cause }),
    ...(log && { log }),
  };
}
