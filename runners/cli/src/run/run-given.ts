// Runs stages on results that a command gives in place of attempts, and shows the progress.
import type { Plan } from "@mlrb/core/plan/plan";
import type { Result } from "@mlrb/local/run/result";
import { startRun } from "@mlrb/local/run/run-plan";
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
};

/** Carries `selected` out, and leaves stale attempts as they are. `results`: by plan index. */
export async function runGiven({
  repository,
  json,
  ...asked
}: GivenRun): Promise<{ results: (Result | undefined)[]; interrupts: number }> {
  const { selected } = asked;
  const shown = { total: selected.length, quiet: json, stream: process.stderr };
  const progress = new Progress({ ...shown, forecast: forecast(asked) });
  const run = startRun({
    ...{ ...asked, executors: executorsOf(repository), supervisors, failFast: false },
    stale: { kind: "leave" },
    onEvent: (event) => progress.show(event),
  });
  const interrupts = await untilFinished(run, progress);
  return { results: await run.finished, interrupts };
}
