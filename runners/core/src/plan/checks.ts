// Stages that others start after (`startAfter`): they must have succeeded before an instance of those starts. A person may
// leave them out of the plan; then each instance that would have waited says so.
import type { Instance, PlannedStage } from "./plan.ts";

type Checks = {
  /** The names of such stages. */
  names: ReadonlySet<string>;
  /** The ids of their instances that are left out; undefined if none may be. */
  skipped: Set<string> | undefined;
};

export function checksOf(stages: PlannedStage[], skip: boolean): Checks {
  const names = new Set(stages.flatMap(({ spec }) => spec.startAfter ?? []));
  return { names, skipped: skip ? new Set() : undefined };
}

export function mayBeSkipped({ name }: PlannedStage, { names, skipped }: Checks): boolean {
  return skipped !== undefined && names.has(name);
}

/** Whether the instance `id` of `stage` is left out, which is remembered. */
export function skipped(stage: PlannedStage, id: string, checks: Checks): boolean {
  if (!mayBeSkipped(stage, checks)) return false;
  checks.skipped!.add(id);
  return true;
}

/** What an instance of `stage` starts after. `before`: the index of another stage's instance at its axes. */
export function checksBefore(
  { spec }: PlannedStage,
  at: {
    before: (stage: string) => number | undefined;
    idOf: (stage: string) => string;
    checks: Checks;
  },
): Pick<Instance, "checks" | "skippedChecks"> {
  const stages = spec.startAfter ?? [];
  const checks = stages.map(at.before).filter((index) => index !== undefined);
  const skippedChecks = stages.map(at.idOf).filter((id) => at.checks.skipped?.has(id));
  return { ...(checks.length > 0 && { checks }), ...(skippedChecks.length > 0 && { skippedChecks }) };
}
