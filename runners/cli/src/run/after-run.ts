// What to do after a run, as commands that can be typed.
// Pure: no disk, no clock.
import type { OutcomeKind } from "@mlrb/core/ports/outcome";
import { counted } from "@mlrb/core/text/counted";
import type { Report } from "@mlrb/formats/report";
import { typedCommand } from "../request/typed-command.ts";
import type { NextStep } from "./next-steps.ts";

export type TypedRun = {
  /** As typed. */
  pipeline: string;
  options: { profile?: string; only?: string[]; set?: string[]; executor?: string; root?: string };
};

type Ended = {
  counts: Record<OutcomeKind, number>;
  /** Attempts that were left stale. */
  leftStale: number;
  /** Whether results were published. */
  published: boolean;
  report: Report | undefined;
  /** The earlier run whose scores of the same submissions differ. */
  rescoredSince?: string | undefined;
};

/** The most urgent step first, at most three. */
export function afterRun(
  { counts, leftStale, published, report, rescoredSince }: Ended,
  { pipeline, options }: TypedRun,
): NextStep[] {
  const run = (more = "") => typedCommand("run", pipeline, options) + more;
  const { only: _, executor: __, ...shown } = options;
  const steps: NextStep[] = [];
  if (counts.failed > 0)
    steps.push({ why: "after you have fixed the cause; finished results are kept", command: run() });
  else if (counts.cancelled > 0)
    steps.push({
      why: "continues this run; attempts that still run are not started again",
      command: run(),
    });
  if (counts.failed > 1 && leftStale === 0)
    steps.push({
      why: "everything that failed, and what depends on it",
      command: typedCommand("status", pipeline, options),
    });
  if (leftStale > 0) {
    const many = counted(leftStale, "stale attempt");
    steps.push({ why: `reruns ${many}; \`plan\` shows why and the cost`, command: run(" --rerun") });
    steps.push({
      why: "or uses the old ones; the tables print the reason",
      command: run(' --accept-stale "reason"'),
    });
  }
  if (steps.length === 0 && published) {
    const cell = report?.cells.find(({ primary, mean }) => primary && mean !== null);
    if (rescoredSince !== undefined)
      steps.push({
        why: "shows each changed score, and what changed it",
        command: `${typedCommand("report", pipeline, shown)} --against ${rescoredSince}`,
      });
    steps.push({
      why: "prints every table; --open shows the page",
      command: typedCommand("report", pipeline, shown),
    });
    if (cell) {
      const { task, metric, agent } = cell;
      const command = typedCommand("trace", [task, metric, agent], { ...shown, pipeline });
      steps.push({ why: "shows what a number was made from", command });
    }
  }
  return steps.slice(0, 3);
}
