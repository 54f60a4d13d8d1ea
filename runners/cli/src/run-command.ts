// `pipeline run`: brings a pipeline up to date, shows how, and prints its tables.
import { relative } from "node:path";
import { type OutcomeKind, outcomeCause } from "@mlrb/core/outcome";
import type { Reason } from "@mlrb/core/reasons";
import { formatDuration } from "@mlrb/core/units";
import { publishResults } from "@mlrb/local/publish-results";
import { type RunEvent, startRun } from "@mlrb/local/run-plan";
import { clearDeadWork } from "@mlrb/local/work-folders";
import { openWorkspace } from "@mlrb/local/workspace";
import { type CostOptions, costAgreed } from "./cost-gate.ts";
import { Progress } from "./progress.ts";
import { type CommonOptions, readRequest } from "./request.ts";
import { showReport } from "./show-report.ts";
import { type StaleOptions, stalePolicy } from "./stale-policy.ts";

export type RunCommandOptions = CommonOptions &
  StaleOptions &
  CostOptions & { jobs?: string; failFast?: boolean };

export async function runCommand(
  repository: string,
  pipeline: string,
  options: RunCommandOptions,
): Promise<number> {
  const jobs = options.jobs === undefined ? undefined : Number(options.jobs);
  if (jobs !== undefined && !(Number.isInteger(jobs) && jobs > 0)) {
    process.stderr.write(`bad-jobs: --jobs ${options.jobs} is not a whole number above 0\n`);
    return 2;
  }
  const request = await readRequest(repository, pipeline, options);
  if (!request) return 2;
  const { plan, selected, root } = request;
  const begin = performance.now();
  const workspace = openWorkspace({ repository, root, pipeline: plan.pipeline, profile: plan.profile });
  await clearDeadWork(workspace.state.work);
  const policy = stalePolicy(plan, options);
  if (!(await costAgreed({ plan, selected, workspace, stale: policy }, options))) return 2;

  const progress = new Progress({ total: selected.length, quiet: options.json, stream: process.stderr });
  const counts: Record<OutcomeKind, number> = {
    succeeded: 0,
    reused: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
  };
  const onEvent = (event: RunEvent) => {
    progress.show(event);
    if (event.kind !== "ended") return;
    counts[event.outcome.kind]++;
    if (options.json) printLine(stageLine(event));
  };
  const run = startRun({
    plan,
    selected,
    workspace,
    executors: { local: async () => (await import("@mlrb/local/local-executor")).localExecutor },
    jobs,
    failFast: options.failFast ?? false,
    stale: policy,
    onEvent,
  });

  let interrupts = 0;
  const interrupt = () => {
    interrupts++;
    progress.note(
      interrupts === 1
        ? "ending: running stages are asked to stop; again (Ctrl-C) kills them. What has finished is kept."
        : "killing what runs",
    );
    run.interrupt();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
  const results = await run.finished.finally(() => progress.end());
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, interrupt);

  const folder = publishResults(plan, results, workspace);
  const durationMs = Math.round(performance.now() - begin);
  if (options.json) {
    const where = folder && relative(root, folder);
    printLine({
      event: "summary",
      pipeline: plan.pipeline,
      profile: plan.profile,
      outcomes: counts,
      durationMs,
      run: run.run,
      results: where,
      peakMemoryBytes: process.resourceUsage().maxRSS * 1024,
    });
  } else {
    if (folder) await showReport(folder);
    const failed = plan.instances.filter(({ index }) => results[index]?.outcome.kind === "failed");
    for (const { id, index } of failed.slice(0, 20)) {
      process.stderr.write(
        `failed  ${id}\n        ${outcomeCause(results[index]!.outcome)}\n        pnpm pipeline log '${id}'\n`,
      );
    }
    if (failed.length > 20) process.stderr.write(`… and ${failed.length - 20} more failed\n`);
    const parts = (Object.keys(counts) as OutcomeKind[])
      .filter((kind) => counts[kind] > 0)
      .map((kind) => `${counts[kind]} ${kind}`);
    process.stdout.write(
      `\n${plan.pipeline} (${plan.profile}): ${parts.join(", ") || "nothing to do"} in ${formatDuration(durationMs)}\n`,
    );
    if (folder) process.stdout.write(`results: ${relative(process.cwd(), folder) || "."}/\n`);
    else if (counts.failed + counts.skipped + counts.cancelled > 0)
      process.stdout.write(
        "no new results were laid out; those under results/, if any, are of an earlier run\n",
      );
  }
  if (interrupts > 0 && counts.cancelled > 0) return 130;
  return counts.failed + counts.skipped + counts.cancelled > 0 ? 1 : 0;
}

export type StageLine = {
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

function printLine(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
