// Runs stages on results that a command gives in place of attempts, and shows the progress.
import type { Plan } from "@mlrb/core/plan/plan";
import type { Result } from "@mlrb/local/run/result";
import { startRun } from "@mlrb/local/run/run-plan";
import type { RunEvent, RunHandle } from "@mlrb/local/run/run-request";
import type { Workspace } from "@mlrb/local/store/workspace";
import { executorsOf, supervisors } from "./executors.ts";
import { forecast } from "./forecast.ts";
import { Progress } from "./progress.ts";
import { untilFinished } from "./until-finished.ts";

type GivenRun = {
  repository: string;
  workspace: Workspace;
  plan: Plan;
  /** Plan indices. */
  selected: number[];
  given: ReadonlyMap<number, Result>;
  jobs: number | undefined;
  /** Without progress. */
  json: boolean;
  weakLimits?: boolean;
  /** After this time running stages are asked to end, and killed if they do not. */
  limitMs?: number;
  onEvent?: (event: RunEvent) => void;
};

const killAfterMs = 10_000;

/** Carries `selected` out, and leaves stale attempts as they are. `results`: by plan index. */
export async function runGiven({
  repository,
  workspace,
  plan,
  selected,
  given,
  jobs,
  json,
  weakLimits = false,
  limitMs,
  onEvent,
}: GivenRun): Promise<{ results: (Result | undefined)[]; interrupts: number }> {
  const progress = new Progress({
    total: selected.length,
    quiet: json,
    stream: process.stderr,
    forecast: forecast({ plan, selected, jobs, workspace }),
  });
  const run = startRun({
    plan,
    selected,
    workspace,
    given,
    executors: executorsOf(repository),
    supervisors,
    jobs,
    failFast: false,
    stale: { kind: "leave" },
    weakLimits,
    onEvent: (event) => {
      progress.show(event);
      onEvent?.(event);
    },
  });
  const timers = limitMs === undefined ? [] : endAfter(run, limitMs);
  const interrupts = await untilFinished(run, progress);
  for (const timer of timers) clearTimeout(timer);
  return { results: await run.finished, interrupts };
}

function endAfter(run: RunHandle, limitMs: number) {
  return [limitMs, limitMs + killAfterMs].map((ms) => setTimeout(() => run.interrupt(), ms));
}
