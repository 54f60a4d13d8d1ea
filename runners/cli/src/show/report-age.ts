// Whether the published results are what a run would publish now.
// Pure: no disk, no clock.

import { type Reason, reasonWords } from "@mlrb/core/key/reasons";
import type { Plan } from "@mlrb/core/plan/plan";
import type { InstanceNow } from "../attempts/read-states.ts";
import { countStates, type StateCounts, stateWordsOf } from "./instance-state.ts";

export type ReportAge =
  /** A run would change none of its files. */
  | { age: "current" }
  /** The files differ from the last outputs of publishing stages: of an older run, or edited. */
  | { age: "differs" }
  /** Stages upstream would run. `reasons`: of instances whose inputs are known. */
  | { age: "moved-on"; states: StateCounts; reasons: { stage: string; reason: Reason }[] };

const reasonsMax = 5;

/** `asGiven`: whether the files are the last outputs of the publishing stages. */
export function reportAge(
  plan: Plan,
  { instances, asGiven }: { instances: InstanceNow[]; asGiven: boolean },
): ReportAge {
  const publishing = instances.filter(({ preview }) => plan.instances[preview.index]!.stage.publishes);
  if (publishing.every(({ state }) => state === "upToDate")) return { age: asGiven ? "current" : "differs" };
  const changed = instances.filter(({ state }) => state !== "upToDate");
  const reasons = changed
    .filter(({ preview }) => preview.certain)
    .map(({ preview }) => ({ stage: plan.instances[preview.index]!.id, reason: preview.reasons[0]! }))
    .filter(({ reason }) => reason !== undefined);
  return { age: "moved-on", states: countStates(changed.map(({ state }) => state)), reasons };
}

/** `run`: the command that updates the report. */
export function reportAgeWords(age: ReportAge, run: string): string[] {
  switch (age.age) {
    case "current":
      return ["up to date: a run would change none of these files"];
    case "differs":
      return [
        "these files are not the plan's last results: published by an older run, or edited since",
        `  ${run}  publishes them again`,
      ];
    case "moved-on": {
      const counts = stateWordsOf(age.states).join(", ");
      const why = age.reasons
        .slice(0, reasonsMax)
        .map(({ stage, reason }) => `  ${stage}  ${reasonWords(reason)}`);
      const more = age.reasons.length > reasonsMax ? [`  … and ${age.reasons.length - reasonsMax} more`] : [];
      return [`out of date: ${counts}`, ...why, ...more, `  ${run}  updates it`];
    }
  }
}
