// Which of a task's rules hold for a kind of data: a device of smoke's has less memory than the official one,
// and what is the only permitted data there is other data here.
import type { DataKind, TaskRule } from "@mlrb/formats/declared/task";

export function rulesOn(rules: TaskRule[], kind: DataKind): TaskRule[] {
  return rules.filter(({ on }) => on === undefined || on.includes(kind));
}

/** Whether there can be data that both hold for; a rule without kinds holds for all. */
export function meetOn(one: DataKind[] | undefined, other: DataKind[] | undefined): boolean {
  return one === undefined || other === undefined || one.some((kind) => other.includes(kind));
}
