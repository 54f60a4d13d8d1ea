// What became of each planned attempt: the record behind the tables, other attempts in its place, and what people did.

import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { Report } from "@mlrb/formats/report";
import type { ObservedAttempt } from "@mlrb/formats/report/protocol";
import { readAdjudications } from "@mlrb/local/records/adjudications";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import type { Workspace } from "@mlrb/local/store/workspace";
import { plainText } from "@mlrb/report/read/plain-text";
import { unrecordedAttempts } from "../attempts/unrecorded-attempts.ts";
import { nodeOf } from "../show/trace-nodes.ts";
import { attemptsOf, placeOf } from "./protocol-facts.ts";

type History = Pick<ObservedAttempt, "task" | "agent" | "seed" | "used" | "others">;

/** In the order of the plan; `others` may hold the attempt itself while it runs. Damaged records are left out: `attempts verify` names them. */
export function attemptHistories(plan: Plan, workspace: Workspace): History[] {
  let records: HeldRecord[] = [];
  const unrecorded = unrecordedAttempts(workspace.state, () => {
    records = workspace.attempts.readable();
    return records;
  });
  const tries = [
    ...records.map(({ digest, record }) => ({
      ...{ kind: "recorded" as const, digest, slot: record.slot, axes: record.axes, cause: "" },
      key: record.attemptKey,
      ...{ startedAt: record.ran.startedAt },
    })),
    ...unrecorded.map(({ kind, card, words }) => ({
      ...{ kind: kind === "lost" ? ("lost" as const) : ("running" as const), digest: undefined },
      ...{ slot: card.slot, axes: card.axes, key: card.key, cause: plainText(words, 200) },
      ...{ startedAt: card.startedAt },
    })),
  ];
  return attemptsOf(plan).map((instance) => {
    const node = nodeOf(instance, { plan, workspace });
    const found = typeof node === "string" || node.record === null ? null : node;
    const used = found && { record: found.record!, startedAt: found.ran.startedAt };
    const others = tries.filter(
      ({ digest, slot, axes, key }) =>
        (isPlaceOf(instance, plan, { slot, axes }) || (found !== null && key === found.key)) &&
        (digest === undefined || digest !== used?.record),
    );
    return {
      ...{ ...placeOf(instance), used },
      others: others.map(({ kind, startedAt, cause }) => ({ kind, startedAt, cause })),
    };
  });
}

/** An attempt in another profile or pipeline has another place, and may have the same key: then it is a repeat too. */
function isPlaceOf(
  { stage, axes }: Instance,
  { pipeline, profile }: Plan,
  one: Pick<AttemptRecord, "slot" | "axes">,
): boolean {
  const { slot } = one;
  return (
    slot.pipeline === pipeline &&
    slot.profile === profile &&
    slot.stage.startsWith(`${stage.name}[`) &&
    (["task", "agent", "seed"] as const).every((axis) => one.axes[axis] === axes[axis])
  );
}

export function observedAttempts(plan: Plan, workspace: Workspace, report: Report): ObservedAttempt[] {
  const decided = readAdjudications(workspace.state.attempts);
  return attemptHistories(plan, workspace).map((one) => {
    const { task, agent, seed, used } = one;
    const shown = report.attempts.find(
      (each) => each.task === task && each.agent === agent && each.seed === seed,
    );
    const { verdict, note = "", origin, resumed = 0, interventions } = shown ?? {};
    const missing =
      verdict?.kind === "missing" ? verdict.cause : shown ? null : "the report does not have it";
    return {
      ...one,
      // one that runs and has no record before it is no repeat
      others: one.others.filter(({ kind }) => kind !== "running" || used !== null),
      ...{ missing: missing && plainText(missing, 200), note: plainText(note, 200) },
      ...{ isImported: origin !== undefined, resumed },
      extensions: interventions?.extensions ?? 0,
      decisions: (used ? (decided.get(used.record) ?? []) : []).map(({ rule, verdict, by, decidedAt }) => ({
        ...{ rule: plainText(rule, 80), verdict, by: plainText(by, 80), decidedAt },
      })),
    };
  });
}
