// What to do next with a pipeline in this state, as commands that can be typed.
// Pure: no disk, no clock.

import { counted } from "@mlrb/core/text/counted";
import { formatDuration } from "@mlrb/core/text/units";
import { costWords } from "../gates/total-cost.ts";
import { typedCommand } from "../request/typed-command.ts";
import type { Status } from "../show/status.ts";

export type NextStep = { why: string; command: string };

type RunOptions = Parameters<typeof typedCommand>[2];

/** `pipeline` as typed. The most urgent step first. */
export function nextSteps(
  status: Status,
  { pipeline, options }: { pipeline: string; options: RunOptions },
): NextStep[] {
  const { runs, orphans, failed, toRun, attempts, publishes, others } = status;
  const { root } = options;
  const log = (stage: string) => typedCommand("log", stage, { root });
  const run = (more = "") => typedCommand("run", pipeline, options) + more;
  const steps: NextStep[] = [];
  const busy = runs.flatMap(({ stages }) => stages)[0];
  if (runs.length > 0 && busy) {
    steps.push({ why: "a run is active; prints its output", command: log(busy.stage) });
  }
  if (orphans[0] && runs.length === 0) {
    steps.push({ why: "continues the running attempts and runs the rest", command: run() });
    const stop = typedCommand("attempts stop", orphans[0].stage, { root });
    steps.push({ why: "or stops one; quarantines what it made and spent", command: stop });
  }
  if (runs.some(({ life }) => life === "elsewhere")) {
    const why = "if the run on another host is dead: takes over its stages and attempts";
    steps.push({ why, command: run(" --take-over") });
  }
  if (failed[0]) steps.push({ why: `shows why ${failed[0].stage} failed`, command: log(failed[0].stage) });
  if (others !== undefined && others.attempts + others.runs > 0) {
    const why = "other selections run: shows their attempts, which a run here may wait for";
    steps.push({ why, command: typedCommand("attempts list --state running", [], { root }) });
  } else if (toRun.instances > 0 && runs.length === 0 && orphans.length === 0) {
    const time =
      toRun.expectedMs > 0 ? `, about ${formatDuration(toRun.expectedMs)} of work as earlier runs took` : "";
    const untimed = toRun.untimed > 0 && toRun.expectedMs > 0 ? `, ${toRun.untimed} never timed` : "";
    steps.push({
      why: `runs ${counted(toRun.instances, "instance")}${time}${untimed}`,
      command: run(),
    });
    steps.push({ why: "shows what would run, and why", command: typedCommand("plan", pipeline, options) });
  }
  if (toRun.leftStale > 0) {
    const cost = costWords(attempts!.cost);
    steps.push({ why: `reruns stale attempts: ${cost}`, command: run(" --rerun") });
    steps.push({
      why: "or uses them as they are; the tables print the reason",
      command: run(' --accept-stale "reason"'),
    });
  }
  if (steps.length === 0 && publishes) {
    const { only: _, executor: __, ...shown } = options;
    steps.push({
      why: "nothing to do; prints every table",
      command: typedCommand("report", pipeline, shown),
    });
  }
  return steps;
}
