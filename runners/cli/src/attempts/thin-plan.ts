// Which weights of an attempt may go: those from which everything planned was made. The snapshots go before the
// submission, and the submission only if a person or a profile asks for it.
// Pure: no disk, no clock.

import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { RetainSpec } from "@mlrb/formats/declared/pipeline";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import type { Result } from "@mlrb/local/run/result";

/** What may go of one attempt, and what may not, with the cause. */
export type MayGo = { instance?: Instance; outputs: string[]; refused: { output: string; why: string }[] };

/** Another profile of the pipeline, with what is up to date in it. Without `planned` it cannot be planned. */
export type OtherProfile = {
  profile: string;
  planned?: { plan: Plan; results: readonly (Result | undefined)[] };
};

const goneUnder: Record<RetainSpec["weights"], string[]> = {
  all: [],
  final: ["snapshots"],
  none: ["snapshots", "submission"],
};

/** `results`: what is up to date, by plan index. `others`: the other profiles, which may use the same record. */
export function mayGo(
  { digest, record }: HeldRecord,
  keep: RetainSpec["weights"],
  {
    plan,
    results,
    others,
  }: { plan: Plan; results: readonly (Result | undefined)[]; others: readonly OtherProfile[] },
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
    const open = openReaders(instance, output, { plan, results });
    const elsewhere = others.flatMap((other) => openIn(other, digest, output) ?? []);
    const why = [...(open.length > 0 ? [`not made yet: ${shown(open)}`] : []), ...elsewhere];
    if (why.length === 0) outputs.push(output);
    else refused.push({ output, why: why.join("; ") });
  }
  return { instance, outputs, refused };
}

type Made = { plan: Plan; results: readonly (Result | undefined)[] };

/** The stages that read an output, directly or not, and whose result is not up to date. */
function openReaders(attempt: Instance, output: string, { plan, results }: Made): string[] {
  return readersOf(attempt, [output], plan).flatMap(({ index, id }) => (isDone(results[index]) ? [] : [id]));
}

/** What another profile still needs of a record, in words; undefined if it needs nothing or uses another record. */
function openIn({ profile, planned }: OtherProfile, digest: string, output: string): string | undefined {
  if (!planned) return `profile ${profile} cannot be planned`;
  const open = planned.plan.instances
    .filter(({ index }) => planned.results[index]?.record?.digest === digest)
    .flatMap((instance) => openReaders(instance, output, planned));
  return open.length === 0 ? undefined : `not made yet in profile ${profile}: ${shown(open)}`;
}

function isDone(result: Result | undefined): boolean {
  return result?.outcome.kind === "reused" || result?.outcome.kind === "succeeded";
}

/**
 * The instances that read these outputs of an attempt, and everything that is made of theirs. Of collecting stages only
 * those that read folders: what collects scores or digests can run again.
 */
export function readersOf(attempt: Instance, outputs: readonly string[], plan: Plan): Instance[] {
  const reads = new Set<number>();
  const isMade = ({ from, output }: { from: number; output: string }) =>
    reads.has(from) || (from === attempt.index && outputs.includes(output));
  const isFolder = ({ from, output }: { from: number; output: string }) =>
    plan.instances[from]!.stage.gives.some(({ name, kind }) => name === output && kind === "dir");
  for (const { index, inputs, members } of plan.instances) {
    const collects = members.some((one) => !one.digestOnly && isFolder(one) && isMade(one));
    if (collects || inputs.some(isMade)) reads.add(index);
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
