// Which weights of an attempt may go: those from which everything planned was made. The snapshots go before the
// submission, and the submission only if a person or a profile asks for it.
// Pure: no disk, no clock.

import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { RetainSpec } from "@mlrb/formats/declared/pipeline";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import type { Result } from "@mlrb/local/run/result";

/** What may go of one attempt, and what may not, with the cause. */
export type MayGo = { instance?: Instance; outputs: string[]; refused: { output: string; why: string }[] };

const goneUnder: Record<RetainSpec["weights"], string[]> = {
  all: [],
  final: ["snapshots"],
  none: ["snapshots", "submission"],
};

/** `results`: what is up to date, by plan index. */
export function mayGo(
  { digest, record }: HeldRecord,
  keep: RetainSpec["weights"],
  { plan, results }: { plan: Plan; results: readonly (Result | undefined)[] },
): MayGo {
  const asked = goneUnder[keep].filter((output) => record.outputs[output]?.kind === "dir");
  const instance = plan.instances.find(({ id }) => id === record.slot.stage);
  const refuse = (why: string) => ({ outputs: [], refused: asked.map((output) => ({ output, why })) });
  if (!instance) return refuse("the plan does not have this attempt; pass the --set of its run");
  if (results[instance.index]?.record?.digest !== digest)
    return { instance, ...refuse("a run would not use this record: it is stale or not current") };
  const outputs: string[] = [];
  const refused: MayGo["refused"] = [];
  for (const output of asked) {
    const open = readersOf(instance, [output], plan).filter(({ index }) => !isDone(results[index]));
    if (open.length === 0) outputs.push(output);
    else refused.push({ output, why: `not made yet: ${shown(open.map(({ id }) => id))}` });
  }
  return { instance, outputs, refused };
}

function isDone(result: Result | undefined): boolean {
  return result?.outcome.kind === "reused" || result?.outcome.kind === "succeeded";
}

/** The instances that read these outputs of an attempt, and everything that is made of theirs, but for collections. */
export function readersOf(attempt: Instance, outputs: readonly string[], plan: Plan): Instance[] {
  const reads = new Set<number>();
  for (const { index, inputs } of plan.instances) {
    const isReader = inputs.some(
      ({ from, output }) => reads.has(from) || (from === attempt.index && outputs.includes(output)),
    );
    if (isReader) reads.add(index);
  }
  return plan.instances.filter(({ index }) => reads.has(index));
}

/** `score[scorer=x]`: a stage instance without the axes that it shares with its attempt. */
export function nameBelow(attempt: Instance, { stage, axes }: Instance): string {
  const own = Object.entries(axes).filter(([axis]) => !(axis in attempt.axes));
  return own.length === 0
    ? stage.name
    : `${stage.name}[${own.map(([axis, value]) => `${axis}=${value}`).join(",")}]`;
}

/** At most three names, and how many more there are. */
export function shown(names: readonly string[]): string {
  const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return `${names.slice(0, 3).join(", ")}${more}`;
}
