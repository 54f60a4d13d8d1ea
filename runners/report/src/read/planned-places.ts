// The places of a report that the pipeline planned, with any outcome. Stages are found by their roles and their
// members distinguished by the axes task, agent, seed, scorer and checkpoint. Of the roles `answers`,
// `dev-answers`, `checkpoint-answers`, `reference-answers` and `reference-check` a report shows only what went wrong. Pure.

import type { Coverage } from "@mlrb/formats/report";
import type { Seed } from "@mlrb/formats/report/attempt";
import type { Collected, Member } from "@mlrb/formats/stage/collected";
import { plainText } from "./plain-text.ts";

/** The axes of each role. */
const axesOf = {
  attempt: ["task", "agent", "seed"],
  verdict: ["task", "agent", "seed"],
  iterations: ["task", "agent", "seed"],
  memorisation: ["task", "agent", "seed"],
  overlap: ["task", "agent", "seed"],
  answers: ["task", "agent", "seed"],
  score: ["task", "agent", "seed", "scorer"],
  "dev-answers": ["task", "agent", "seed"],
  "dev-score": ["task", "agent", "seed"],
  "reference-answers": ["task"],
  "reference-memorisation": ["task"],
  references: ["task", "scorer"],
  "reference-check": ["task"],
  kinship: ["task"],
  "answers-of-judge": ["task", "agent", "seed", "judge", "rubric"],
  "judge-check": ["judge", "rubric"],
  checkpoint: ["task", "agent", "seed", "checkpoint"],
  "checkpoint-answers": ["task", "agent", "seed", "checkpoint"],
  "checkpoint-score": ["task", "agent", "seed", "checkpoint", "scorer"],
  calibration: [],
} as const;

export type Role = keyof typeof axesOf;

export type Slot = { task: string; agent: string; seed: Seed };

export type PlannedPlaces = ReturnType<typeof plannedPlaces>;

/** Throws when two members have one place, or a member lacks an axis of its role: that is the pipeline's mistake. */
export function plannedPlaces({ members }: Collected) {
  if (members.length > 0 && !members.some(({ role }) => isRole(role)))
    throw new Error(
      `no collected stage has a role that a report uses: declare one at each stage: ${Object.keys(axesOf).join(", ")}`,
    );
  const places = {
    members: new Map<string, Member>(),
    scorers: new Map<string, Set<string>>(), // by task
    checkpoints: new Map<string, Set<string>>(), // by task
    slots: new Map<string, Slot>(),
    gaps: [] as Coverage["gaps"],
  };
  for (const member of members) {
    const { role, stage, outcome, cause } = member;
    if (!isRole(role)) continue;
    const key = place(member, role);
    if (places.members.has(key))
      throw new Error(`${stage}: two collected stages have the same place in the report`);
    places.members.set(key, member);
    const { task, agent, seed, scorer, checkpoint } = member.axes;
    if (task !== undefined) {
      addTo(places.scorers, String(task), scorer);
      addTo(places.checkpoints, String(task), checkpoint);
    }
    if (agent !== undefined && seed !== undefined)
      places.slots.set(placeKey([task, agent, seed]), { task: String(task), agent: String(agent), seed });
    if (outcome !== "succeeded")
      places.gaps.push({ stage: plainText(stage), outcome, cause: plainText(cause) });
  }
  return places;
}

function addTo(sets: Map<string, Set<string>>, name: string, value: Seed | undefined): void {
  const set = sets.get(name) ?? new Set();
  sets.set(name, set);
  if (value !== undefined) set.add(String(value));
}

/** Numbers and texts stay distinct: seed 1 and seed "1" are two seeds. */
export function placeKey(parts: readonly unknown[]): string {
  return JSON.stringify(parts);
}

function isRole(role: string | undefined): role is Role {
  return role !== undefined && Object.hasOwn(axesOf, role);
}

function place(member: Member, role: Role): string {
  const axes = axesOf[role].map((axis) => {
    const value = member.axes[axis];
    if (value === undefined) {
      throw new Error(`${member.stage}: a report needs the axis ${axis} of the stage ${member.name}`);
    }
    return axis === "seed" ? value : String(value);
  });
  return placeKey([role, ...axes]);
}
