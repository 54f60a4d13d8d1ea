// What a person does next with a pipeline in this state, as commands that can be typed.
// Pure: no disk, no clock.
import { formatDuration } from "@mlrb/core/text/units";
import { costWords } from "../gates/total-cost.ts";
import { askAgain, shellWord } from "../request/ask-again.ts";
import type { Status } from "../show/status.ts";

export type NextStep = { why: string; command: string };

type RunOptions = Parameters<typeof askAgain>[2];

/** `pipeline` as it was typed. The first is the most urgent. */
export function nextSteps(
  status: Status,
  { pipeline, options }: { pipeline: string; options: RunOptions },
): NextStep[] {
  const { runs, orphans, failed, toRun, attempts, publishes } = status;
  const root = options.root === undefined ? "" : ` --root ${shellWord(options.root)}`;
  const log = (stage: string) => `pnpm pipeline log ${shellWord(stage)}${root}`;
  const run = (more = "") => askAgain("run", pipeline, options) + more;
  const steps: NextStep[] = [];
  const busy = runs.flatMap(({ stages }) => stages)[0];
  if (runs.length > 0 && busy) {
    steps.push({ why: "a run goes on; what it says", command: log(busy.stage) });
  }
  if (orphans[0] && runs.length === 0) {
    steps.push({ why: "go on with what goes on, and with the rest", command: run() });
    const stop = `pnpm pipeline attempts stop ${shellWord(orphans[0].stage)}${root}`;
    steps.push({ why: "or stop it; what it made and spent is quarantined", command: stop });
  }
  if (runs.some(({ life }) => life === "elsewhere")) {
    const why = "if the run on another host is gone: a run takes over what it left, attempts only if told";
    steps.push({ why, command: run(" --take-over") });
  }
  if (failed[0]) steps.push({ why: `why ${failed[0].stage} failed`, command: log(failed[0].stage) });
  if (toRun.instances > 0 && runs.length === 0 && orphans.length === 0) {
    const time =
      toRun.expectedMs > 0 ? `, about ${formatDuration(toRun.expectedMs)} of work by earlier runs` : "";
    const untimed = toRun.untimed > 0 && toRun.expectedMs > 0 ? `, ${toRun.untimed} never timed` : "";
    steps.push({ why: `bring ${toRun.instances} up to date${time}${untimed}`, command: run() });
    steps.push({ why: "what would run, and why", command: askAgain("plan", pipeline, options) });
  }
  if (toRun.leftStale > 0) {
    const cost = costWords(attempts!.cost);
    steps.push({ why: `make stale attempts again: ${cost}`, command: run(" --rerun") });
    steps.push({
      why: "or use them as they are; the tables say why",
      command: run(' --accept-stale "reason"'),
    });
  }
  if (steps.length === 0 && publishes) {
    const { only: _, executor: __, ...shown } = options;
    steps.push({ why: "nothing to do; the tables again", command: askAgain("report", pipeline, shown) });
  }
  return steps;
}
