// Where a machine can build no walls, a stage may open files of attempts under limits alone only if these files
// are no news to this machine: the program is trusted by its preset, the attempt was recorded before this run, or
// a person passed --unsafe-local.
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { isTrusted } from "../records/recorded-limits.ts";
import type { Result } from "./result.ts";

type AttemptsKnown = {
  plan: Plan;
  /** Results of instances that this run took from elsewhere, e.g. a folder given to `score`. */
  given?: ReadonlyMap<number, Result>;
  /** The results of this run so far, by plan index. */
  results: readonly (Result | undefined)[];
  unsafeLocal?: boolean;
};

export function mayRunWeakly(
  instance: Instance,
  { plan, given, results, unsafeLocal }: AttemptsKnown,
): boolean {
  if (unsafeLocal) return true;
  return untrustedBefore(instance, plan).every(({ index, action }) => {
    if (given?.has(index)) return false;
    const result = results[index];
    // anyone may have written an imported record, under any preset
    if (result?.record?.origin) return false;
    return isTrusted(action) || result?.outcome.kind === "reused";
  });
}

/** The untrusted instances whose outputs may reach this one. */
function untrustedBefore(instance: Instance, { instances }: Plan): Instance[] {
  const seen = new Set<number>();
  const left = [instance];
  for (let one = left.pop(); one !== undefined; one = left.pop())
    for (const { from } of [...one.inputs, ...one.members]) {
      if (seen.has(from)) continue;
      seen.add(from);
      if (!instances[from]!.stage.untrusted) left.push(instances[from]!);
    }
  return [...seen].map((index) => instances[index]!).filter(({ stage }) => stage.untrusted);
}
