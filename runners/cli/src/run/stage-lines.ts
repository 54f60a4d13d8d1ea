// With --json: the line of each stage instance.
import type { Reason } from "@mlrb/core/key/reasons";
import type { Plan } from "@mlrb/core/plan/plan";
import { type OutcomeKind, outcomeCause } from "@mlrb/core/ports/outcome";
import type { RunEvent } from "@mlrb/local/run/run-request";

type StageLine = {
  event: "stage";
  stage: string;
  name: string;
  outcome: OutcomeKind;
  reasons: Reason[];
  durationMs: number;
};

export function stageLine(event: RunEvent & { kind: "ended" }): StageLine & Record<string, unknown> {
  const { instance, outcome, reasons, durationMs, log } = event;
  const cause = outcomeCause(outcome);
  return {
    ...{ event: "stage", stage: instance.id, name: instance.stage.name, outcome: outcome.kind },
    ...{ reasons, durationMs },
    ...(cause && { cause }),
    ...(outcome.kind === "failed" && { failure: outcome.cause }),
    ...(log && { log }),
  };
}

/** The lines of the next run if nothing changes. */
export function reusedLines(plan: Plan, selected: number[]): string {
  return selected
    .map((index) => {
      const { id, stage } = plan.instances[index]!;
      const line: StageLine = {
        ...{ event: "stage", stage: id, name: stage.name, outcome: "reused" },
        ...{ reasons: [{ kind: "unchanged" }], durationMs: 0 },
      };
      return `${JSON.stringify(line)}\n`;
    })
    .join("");
}
