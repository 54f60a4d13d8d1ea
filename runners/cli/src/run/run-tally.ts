// Counts what a run's events report, for its end: outcomes, cost estimates, attempts that it left running.
import type { OutcomeKind } from "@mlrb/core/ports/outcome";
import { type CostEstimate, estimateCost } from "@mlrb/local/records/estimate-cost";
import type { Result } from "@mlrb/local/run/result";
import type { RunEvent } from "@mlrb/local/run/run-request";
import type { Workspace } from "@mlrb/local/store/workspace";
import { type Attempted, type Spent, spent } from "../gates/spent.ts";
import type { LeftAttempt } from "./until-finished.ts";

export class RunTally {
  readonly counts: Record<OutcomeKind, number> = {
    succeeded: 0,
    reused: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
  };
  readonly left: LeftAttempt[] = [];
  readonly #workspace: Workspace;
  readonly #ended = new Map<number, OutcomeKind>();
  readonly #recorded = new Set<string>();
  readonly #began = new Date().toISOString();
  readonly #estimates = new Map<number, CostEstimate>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  add(event: RunEvent): void {
    if (event.kind === "left") this.left.push(event);
    if (event.kind === "started" && event.instance.stage.durable)
      this.#estimates.set(event.instance.index, estimateCost(event.instance, this.#workspace));
    if (event.kind !== "ended") return;
    // an instance whose result was found damaged runs again, and ends a second time
    const before = this.#ended.get(event.instance.index);
    if (before !== undefined) this.counts[before]--;
    this.#ended.set(event.instance.index, event.outcome.kind);
    this.counts[event.outcome.kind]++;
    if (event.outcome.kind === "succeeded" && this.#estimates.has(event.instance.index))
      this.#recorded.add(event.instance.id);
  }

  /** Attempts that this run has started and that have a record now, as stage instances; and when it began. */
  soFar(): { recorded: string[]; began: string } {
    return { recorded: [...this.#recorded], began: this.#began };
  }

  /** `results` by plan index. */
  spent(results: (Result | undefined)[]): Spent | undefined {
    return spent([...this.#estimates].map(([index, estimate]) => attempted(estimate, results[index])));
  }
}

function attempted(estimate: CostEstimate, result: Result | undefined): Attempted {
  const record = result?.record?.record;
  if (record) return { estimate, cost: record.cost, durationMs: record.ran.durationMs };
  const lost = result?.quarantined;
  return { estimate, cost: null, durationMs: lost?.durationMs ?? 0, ...(lost && { lost: lost.cost }) };
}
