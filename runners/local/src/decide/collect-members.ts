// The manifest of a collecting stage. It is part of the stage's key, so it holds no clock, host or path.

import type { Instance } from "@mlrb/core/plan/plan";
import { outcomeCause } from "@mlrb/core/ports/outcome";
import type { MemberOrigin, RecordOrigin } from "@mlrb/formats/attempt/record-origin";
import type { Collected, Member } from "@mlrb/formats/stage/collected";
import type { HeldRecord } from "../records/attempt-records.ts";
import { DamagedRecord } from "../records/damaged-record.ts";
import { recordedGpus } from "../records/recorded-gpus.ts";
import { recordedWeakLimits } from "../records/recorded-limits.ts";
import type { BindContext, Result } from "../run/result.ts";
import type { Workspace } from "../store/workspace.ts";

/** Lists every planned member of a collecting stage in plan order, whatever its outcome. */
export function collectMembers(instance: Instance, { plan, workspace, results }: BindContext): Collected {
  const members = [...Map.groupBy(instance.members, ({ from }) => from)]
    .sort(([a], [b]) => a - b)
    .map(([from, outputs], position): Member => {
      const { id, stage, axes } = plan.instances[from]!;
      const result = results[from] ?? lastKnown(id, stage.durable, workspace);
      const given = result && (result.outcome.kind === "succeeded" || result.outcome.kind === "reused");
      const kind = result?.outcome.kind === "reused" ? "succeeded" : result?.outcome.kind;
      const folder = String(position).padStart(4, "0");
      return {
        stage: id,
        name: stage.name,
        ...(stage.role !== undefined && { role: stage.role }),
        axes,
        outcome: kind ?? "not-run",
        cause: result ? outcomeCause(result.outcome) : "not selected, and it has not succeeded before",
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
        ...(result?.note !== undefined && { note: result.note }),
        ...(given && result.record && recordMarks(result.record, stage.untrusted)),
      };
    });
  return { formatVersion: 1, members };
}

/** What tables say about a record besides its outputs. */
function recordMarks({ origin, record, decisions }: HeldRecord, untrusted: boolean): Partial<Member> {
  const weakLimits = untrusted ? recordedWeakLimits(record) : [];
  const gpus = recordedGpus(record);
  return {
    ...(origin && { origin: memberOrigin(origin) }),
    ...(weakLimits.length > 0 && { weakLimits }),
    ...(gpus !== undefined && { gpus }),
    ...(decisions && { decisions }),
  };
}

function memberOrigin({ signedBy }: RecordOrigin): MemberOrigin {
  return { kind: "imported", signedBy };
}

/** The last success of an instance outside the selection. */
function lastKnown(id: string, durable: boolean, workspace: Workspace): Result | undefined {
  const last = workspace.last.get(id);
  if (!last) return undefined;
  const record = durable ? recordOf(last.key, workspace) : undefined;
  const outputs = durable ? record?.record.outputs : workspace.actions.get(last.key)?.outputs;
  if (!outputs || !Object.values(outputs).every((output) => workspace.store.hasAll(output))) return undefined;
  return { outcome: { kind: "reused" }, outputs, ...(record && { record }) };
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
