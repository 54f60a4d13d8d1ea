// With --json: the line of each stage instance.
import type { Plan } from "@mlrb/core/plan/plan";
import { outcomeCause } from "@mlrb/core/ports/outcome";
import type { RunEvent } from "@mlrb/local/run/run-request";

export function stageLine(event: RunEvent & { kind: "ended" }): object {
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
      const reused = { instance: plan.instances[index]!, outcome: { kind: "reused" } } as const;
      const line = stageLine({ kind: "ended", ...reused, reasons: [{ kind: "unchanged" }], durationMs: 0 });
      return `${JSON.stringify(line)}\n`;
    })
    .join("");
}
