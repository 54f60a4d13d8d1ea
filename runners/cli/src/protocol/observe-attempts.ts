// What became of each planned attempt: the record behind the tables, other attempts in its place, and what people
// did.

import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { Report } from "@mlrb/formats/report";
import type { Departure, ProtocolObservation } from "@mlrb/formats/report/protocol";
import { readAdjudications } from "@mlrb/local/records/adjudications";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import type { Workspace } from "@mlrb/local/store/workspace";
import { isQuestionRule } from "@mlrb/report/judged/decided-marks";
import { plainText } from "@mlrb/report/read/plain-text";
import { unrecordedAttempts } from "../attempts/unrecorded-attempts.ts";
import { nodeOf } from "../show/trace-nodes.ts";
import { attemptsOf, placeOf } from "./protocol-facts.ts";

/** In the order of the plan; `others` may hold the attempt itself while it runs. Damaged records are left out: `attempts verify` names them. */
export function attemptHistories(plan: Plan, workspace: Workspace) {
  let records: HeldRecord[] = [];
  const unrecorded = unrecordedAttempts(workspace.state, () => {
    records = workspace.attempts.readable();
    return records;
  });
  const tries = [
    ...records.map(({ digest, record }) => ({
      ...{ kind: "recorded" as const, digest, slot: record.slot, axes: record.axes, cause: "" },
      ...{ key: record.attemptKey, startedAt: record.ran.startedAt },
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

const otherWords = {
  recorded: "another recorded attempt",
  lost: "another attempt, without a record",
  running: "another attempt, still running",
} as const;

/** The protocol with which each attempt started, and the departures of single attempts. */
export function observedAttempts(
  plan: Plan,
  workspace: Workspace,
  report: Report,
): Pick<ProtocolObservation, "started" | "happened"> {
  const decided = readAdjudications(workspace.state.attempts);
  const started: ProtocolObservation["started"] = [];
  const happened: Departure[] = [];
  for (const { task, agent, seed, used, others } of attemptHistories(plan, workspace)) {
    const where = `${task}, ${agent}, seed ${seed}`;
    const departs = (kind: Departure["kind"], what: string, primary: Departure["primary"] = "yes") =>
      happened.push({ kind, where, primary, what: plainText(what, 300) });
    if (used) started.push({ where, protocol: workspace.attempts.read(used.record).protocol ?? null });
    const shown = report.attempts.find(
      (each) => each.task === task && each.agent === agent && each.seed === seed,
    );
    const { verdict, note = "", origin, resumed = 0, interventions } = shown ?? {};
    if (!shown) departs("missing-attempt", "missing: the report does not have it");
    if (verdict?.kind === "missing") departs("missing-attempt", `missing: ${verdict.cause}`);
    for (const { kind, startedAt, cause } of others) {
      if (kind === "running" && used === null) continue; // it repeats none
      const why = cause === "" ? "" : `: ${cause}`;
      departs("repeated-attempt", `${otherWords[kind]} (${startedAt}), which the tables do not use${why}`);
    }
    const extensions = interventions?.extensions ?? 0;
    if (resumed > 0) departs("resumed-attempt", `resumed, ${times(resumed)}`);
    if (extensions > 0)
      departs("extended-attempt", `extended, ${times(extensions)}; it leaves the primary tables`);
    if (origin !== undefined) departs("imported-attempt", "made on another machine and imported");
    if (note !== "") departs("accepted-attempt", note);
    for (const { rule, verdict, by, decidedAt } of (used && decided.get(used.record)) ?? [])
      departs(
        "adjudication",
        `${by} decided ${verdict} on the rule ${rule} (${decidedAt ?? "when is unknown"})`,
        isQuestionRule(rule) ? "no" : "yes",
      );
  }
  return { started, happened };
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
