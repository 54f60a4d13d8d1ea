// Selects a task's rules for a kind of data: memory limits and permitted data differ between smoke and official.
import type { DataKind, TaskRule } from "@mlrb/formats/declared/task";

export function rulesOn(rules: TaskRule[], kind: DataKind): TaskRule[] {
  return rules.filter(({ on }) => on === undefined || on.includes(kind));
}

/** Whether two rules apply to a common kind of data. A rule without kinds applies to all. */
export function meetOn(one: DataKind[] | undefined, other: DataKind[] | undefined): boolean {
  return one === undefined || other === undefined || one.some((kind) => other.includes(kind));
}
