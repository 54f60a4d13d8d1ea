// The manifest of a collecting stage. It is part of the stage's key, so it holds no clock, host or path.

import { reachedNetwork } from "@mlrb/core/key/action-key";
import type { Instance } from "@mlrb/core/plan/plan";
import { outcomeCause } from "@mlrb/core/ports/outcome";
import { conditionOf } from "@mlrb/formats/attempt/condition";
import type { MemberOrigin, RecordOrigin } from "@mlrb/formats/attempt/record-origin";
import type { Collected, Member } from "@mlrb/formats/stage/collected";
import type { HeldRecord } from "../records/attempt-records.ts";
import { DamagedRecord } from "../records/damaged-record.ts";
import { recordedGpus } from "../records/recorded-gpus.ts";
import { recordedWeakLimits } from "../records/recorded-limits.ts";
import type { BindContext, Result } from "../run/result.ts";
import type { Workspace } from "../store/workspace.ts";
import { hasNetwork } from "./former-attempt-key.ts";

/** Lists every planned member of a collecting stage in plan order, whatever its outcome. */
export function collectMembers(instance: Instance, { plan, workspace, results }: BindContext): Collected {
  const members = [...Map.groupBy(instance.members, ({ from }) => from)]
    .sort(([a], [b]) => a - b)
    .map(([from, outputs], position): Member => {
      const member = plan.instances[from]!;
      const { id, stage, axes } = member;
      const last = results[from] ?? lastKnown(member, workspace);
      const result = last === "other-condition" ? undefined : last;
      const given = result && (result.outcome.kind === "succeeded" || result.outcome.kind === "reused");
      const kind = result?.outcome.kind === "reused" ? "succeeded" : result?.outcome.kind;
      const folder = String(position).padStart(4, "0");
      return {
        stage: id,
        name: stage.name,
        ...(stage.role !== undefined && { role: stage.role }),
        axes,
        outcome: kind ?? "not-run",
        cause: result ? outcomeCause(result.outcome) : whyNotRun(last === "other-condition"),
        artifacts: given
          ? Object.fromEntries(
              outputs.flatMap(({ output, digestOnly }) => {
                const artifact = result.outputs[output];
                if (!artifact) return []; // the last known success predates this output
                const { file } = stage.gives.find((one) => one.name === output)!;
                const { digest, kind: what } = artifact;
                const path = `members/${folder}/${file}`;
                return [[output, digestOnly ? { digest, kind: what } : { digest, kind: what, path }]];
              }),
            )
          : {},
        ...noteOf(member, result),
        ...plannedFacts(member),
        ...(given && result.record && recordMarks(result.record, stage.untrusted)),
      };
    });
  return { formatVersion: 1, members };
}

/** Of an attempt: two conditions, or two budgets, are two experiments. */
function plannedFacts({ stage, action, execution }: Instance): Pick<Member, "condition" | "budget"> {
  if (!isAttempt(stage)) return {};
  return { condition: conditionOf(execution.network), budget: action.budget };
}

function isAttempt({ durable, untrusted }: Instance["stage"]): boolean {
  return durable && untrusted;
}

/** Tables print it. That an old record does not say which network the attempt had is no reason to lose the attempt. */
function noteOf(member: Instance, result: Result | undefined): Pick<Member, "note"> {
  const { note, record } = result ?? {};
  const unsaid = record !== undefined && record.record.parts.network !== reachedNetwork(member);
  const notes = [note, isAttempt(member.stage) && unsaid ? unsaidNetwork : undefined];
  const text = notes.filter((one) => one !== undefined).join("; ");
  return text === "" ? {} : { note: text };
}

const unsaidNetwork =
  "its record is older than records that name the network: a full network, as planned here, is assumed";

/** What tables say about a record besides its outputs. */
function recordMarks({ origin, record, decisions }: HeldRecord, untrusted: boolean): Partial<Member> {
  const weakLimits = untrusted ? recordedWeakLimits(record) : [];
  const gpus = recordedGpus(record);
  return {
    ...(origin && { origin: memberOrigin(origin) }),
    ...(weakLimits.length > 0 && { weakLimits }),
    ...(record.skippedChecks && { skippedChecks: record.skippedChecks }),
    ...(gpus !== undefined && { gpus }),
    ...(decisions && { decisions }),
  };
}

function memberOrigin({ signedBy }: RecordOrigin): MemberOrigin {
  return { kind: "imported", signedBy };
}

/** The last success of an instance outside the selection. One of another condition is not used. */
function lastKnown(instance: Instance, workspace: Workspace): Result | "other-condition" | undefined {
  const { durable } = instance.stage;
  const last = workspace.last.get(instance.id);
  if (!last) return undefined;
  const record = durable ? recordOf(last.key, workspace) : undefined;
  const outputs = durable ? record?.record.outputs : workspace.actions.get(last.key)?.outputs;
  const { store, attempts } = workspace;
  if (!outputs || !Object.values(outputs).every((output) => store.hasAll(output, attempts.isThinned)))
    return undefined;
  if (record && !hasNetwork(record.record, reachedNetwork(instance))) return "other-condition";
  return { outcome: { kind: "reused" }, outputs, ...(record && { record }) };
}

function whyNotRun(isOtherCondition: boolean): string {
  if (!isOtherCondition) return "not selected, and it has not succeeded before";
  return "not selected, and its last attempt had another network: no mean holds attempts of two conditions";
}

/** A damaged record has no outputs here; its own stage reports the damage. */
function recordOf(key: string, { attempts }: Workspace): HeldRecord | undefined {
  try {
    return attempts.find(key);
  } catch (error) {
    if (error instanceof DamagedRecord) return undefined;
    throw error;
  }
}
