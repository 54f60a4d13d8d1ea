// Stages of one group, such as the checks of an attempt, are one line of a run on a terminal.
// Pure: no disk, no clock.
import { type Instance, instanceId } from "@mlrb/core/plan/plan";
import type { OutcomeKind } from "@mlrb/core/ports/outcome";

type Group = { open: Set<number>; durationMs: number; good: boolean };

export class GroupEnds {
  readonly #groups = new Map<string, Group>();

  /** `instances`: all of the run. */
  constructor(instances: readonly Instance[]) {
    for (const instance of instances) {
      const name = groupName(instance);
      if (name === undefined) continue;
      this.#groups
        .getOrInsertComputed(name, () => ({ open: new Set(), durationMs: 0, good: true }))
        .open.add(instance.index);
    }
  }

  /** The group's name and working time once all of its stages have ended well and not all of them were reused. */
  ended(
    instance: Instance,
    { kind, durationMs }: { kind: OutcomeKind; durationMs: number },
  ): { name: string; durationMs: number } | undefined {
    const name = groupName(instance);
    const group = name === undefined ? undefined : this.#groups.get(name);
    if (name === undefined || !group?.open.delete(instance.index)) return undefined;
    group.durationMs += durationMs;
    group.good &&= kind === "succeeded" || kind === "reused";
    const isDone = group.open.size === 0 && group.good && group.durationMs > 0;
    return isDone ? { name, durationMs: group.durationMs } : undefined;
  }
}

/** `checks[task=…]`; undefined for a stage of no group. */
export function groupName({ stage, axes }: Instance): string | undefined {
  return stage.spec.group === undefined ? undefined : instanceId(stage.spec.group, axes);
}
