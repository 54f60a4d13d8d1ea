// Stages that others start after (`startAfter`): they must have succeeded before an instance of those starts. A
// person may leave them out of the plan; then each instance that would have waited says so.
import type { Instance, PlannedStage } from "./plan.ts";

type Checks = {
  /** The names of such stages. */
  names: ReadonlySet<string>;
  /** The ids of their instances that are left out, by stage; undefined if none may be. */
  skipped: Map<string, string[]> | undefined;
};

export function checksOf(stages: PlannedStage[], skip: boolean): Checks {
  const names = new Set(stages.flatMap(({ spec }) => spec.startAfter ?? []));
  return { names, skipped: skip ? new Map() : undefined };
}

export function mayBeSkipped({ name }: PlannedStage, { names, skipped }: Checks): boolean {
  return skipped !== undefined && names.has(name);
}

/** Whether the instance `id` of `stage` is left out, which is remembered. */
export function skipped(stage: PlannedStage, id: string, checks: Checks): boolean {
  if (!mayBeSkipped(stage, checks)) return false;
  checks.skipped!.getOrInsert(stage.name, []).push(id);
  return true;
}

/**
 * What an instance of `stage` starts after: the checks at its axes, or all instances of a check that has none
 * there. So no attempt starts on a machine that has not shown that it scores rightly, also at a task that has no
 * check of its own. If the whole plan has no check, none was left out, and `needed`, the instance names the checks
 * that nothing declares.
 *
 * `before`: the index of another stage's instance at its axes. `all`: the indices of all its instances.
 */
export function checksBefore(
  { spec }: PlannedStage,
  at: {
    before: (stage: string) => number | undefined;
    all: (stage: string) => number[];
    idOf: (stage: string) => string;
    checks: Checks;
    needed: boolean;
  },
): Pick<Instance, "checks" | "skippedChecks" | "undeclaredChecks"> {
  const stages = spec.startAfter ?? [];
  const checks = stages.flatMap((name) => at.before(name) ?? at.all(name));
  const skippedChecks = stages.flatMap((name) => {
    const all = at.checks.skipped?.get(name) ?? [];
    const own = at.idOf(name);
    return all.includes(own) ? own : all;
  });
  if (at.needed && stages.length > 0 && checks.length + skippedChecks.length === 0)
    return { undeclaredChecks: stages.map(at.idOf) };
  return { ...(checks.length > 0 && { checks }), ...(skippedChecks.length > 0 && { skippedChecks }) };
}
