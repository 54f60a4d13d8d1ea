// The manifest of a collecting stage. It is part of the stage's key, so it holds no clock, host or path.

import { reachedNetwork } from "@mlrb/core/key/action-key";
import type { Instance } from "@mlrb/core/plan/plan";
import { outcomeCause } from "@mlrb/core/ports/outcome";
import { uncheckedOf } from "@mlrb/formats/attempt/attempt-record";
import { conditionOf } from "@mlrb/formats/attempt/condition";
import type { Collected, Member } from "@mlrb/formats/stage/collected";
import type { HeldRecord } from "../records/attempt-records.ts";
import { DamagedRecord } from "../records/damaged-record.ts";
import { recordedGpus } from "../records/recorded-gpus.ts";
import { recordedWeakLimits } from "../records/recorded-limits.ts";
import type { BindContext, Result } from "../run/result.ts";
import type { Workspace } from "../store/workspace.ts";

/**
 * Lists every planned member of a collecting stage by its id, whatever its outcome: the order of an axis' values
 * in the YAML changes nothing. A file has no folder of its own: making and removing one takes up to 4 ms on ext4.
 * Folders, and files for attempts, have one, because earlier keys hold their paths.
 */
export function collectMembers(instance: Instance, context: BindContext): Collected {
  const { plan } = context;
  const known = new LastKnown(context);
  const members = [...Map.groupBy(instance.members, ({ from }) => from)]
    .sort(([a], [b]) => (plan.instances[a]!.id < plan.instances[b]!.id ? -1 : 1))
    .map(([from, outputs], position): Member => {
      const member = plan.instances[from]!;
      const { id, stage, axes } = member;
      const last = known.of(from);
      const result = typeof last === "string" ? undefined : last;
      const given = result && (result.outcome.kind === "succeeded" || result.outcome.kind === "reused");
      const kind = result?.outcome.kind === "reused" ? "succeeded" : result?.outcome.kind;
      const number = String(position).padStart(4, "0");
      return {
        stage: id,
        name: stage.name,
        ...(stage.role !== undefined && { role: stage.role }),
        axes,
        outcome: kind ?? "not-run",
        cause: result ? outcomeCause(result.outcome) : whyNotRun[typeof last === "string" ? last : "none"],
        artifacts: given
          ? Object.fromEntries(
              outputs.flatMap(({ output, digestOnly }) => {
                const artifact = result.outputs[output];
                if (!artifact) return []; // the last known success predates this output
                const { file } = stage.gives.find((one) => one.name === output)!;
                const { digest, kind: what } = artifact;
                const isFlat = what === "file" && !instance.stage.durable;
                const path = `members/${number}${isFlat ? "-" : "/"}${file}`;
                return [[output, digestOnly ? { digest, kind: what } : { digest, kind: what, path }]];
              }),
            )
          : {},
        ...(result?.note !== undefined && { note: result.note }),
        ...plannedFacts(member),
        ...(given && result.record && recordMarks(result.record, stage.untrusted)),
      };
    });
  return { formatVersion: 1, members };
}

/** Of an attempt: two conditions, or two budgets, are two experiments. */
function plannedFacts({ stage, action, execution }: Instance): Pick<Member, "condition" | "budget"> {
  if (!stage.durable || !stage.untrusted) return {};
  return { condition: conditionOf(execution.network), budget: action.budget };
}

/** What tables say about a record besides its outputs. */
function recordMarks({ origin, record, decisions }: HeldRecord, untrusted: boolean): Partial<Member> {
  const weakLimits = untrusted ? recordedWeakLimits(record) : [];
  const gpus = recordedGpus(record);
  // how often it continued after its supervisor or host died
  const resumed = Number(record.ran.where?.resumed ?? 0);
  return {
    ...(origin && { origin: { kind: "imported", signedBy: origin.signedBy } as const }),
    ...(weakLimits.length > 0 && { weakLimits }),
    ...uncheckedOf(record),
    ...(gpus !== undefined && { gpus }),
    ...(decisions && { decisions }),
    ...(Number.isSafeInteger(resumed) && resumed > 0 && { resumed }),
    ...(record.interventions && { interventions: record.interventions }),
  };
}

type Known = Result | "other-condition" | "other-inputs" | undefined;

/**
 * Results of this run, and for instances outside the selection their last success. Not used is an attempt of
 * another condition, and what was made from another result than the one that is known now, e.g. scores of an
 * earlier attempt.
 */
class LastKnown {
  readonly #context: BindContext;
  readonly #known = new Map<number, Known>();

  constructor(context: BindContext) {
    this.#context = context;
  }

  of(index: number): Known {
    const { results } = this.#context;
    if (results[index]) return results[index];
    if (!this.#known.has(index)) this.#known.set(index, this.#last(index));
    return this.#known.get(index);
  }

  #last(index: number): Known {
    const { plan, workspace } = this.#context;
    const instance = plan.instances[index]!;
    const { durable } = instance.stage;
    const last = workspace.last.get(instance.id);
    if (!last) return undefined;
    const record = durable ? recordOf(last.key, workspace) : undefined;
    const action = durable ? undefined : workspace.actions.get(last.key);
    const outputs = record?.record.outputs ?? action?.outputs;
    const { store, attempts } = workspace;
    if (!outputs || !Object.values(outputs).every((output) => store.hasAll(output, attempts.isThinned)))
      return undefined;
    if (record && record.record.parts.network !== reachedNetwork(instance)) return "other-condition";
    return (
      (action && this.#unusable(instance, action.parts.inputs)) ?? {
        outcome: { kind: "reused" },
        outputs,
        ...(record && { record }),
      }
    );
  }

  /** `read`: the digests of the inputs of an instance's last success. */
  #unusable(
    { inputs }: Instance,
    read: Record<string, string>,
  ): "other-condition" | "other-inputs" | undefined {
    for (const { name, from, output } of inputs) {
      const known = this.of(from);
      if (typeof known === "string") return known;
      const digest = known?.outputs[output]?.digest;
      if (digest !== undefined && read[name] !== undefined && read[name] !== digest) return "other-inputs";
    }
    return undefined;
  }
}

const whyNotRun = {
  none: "not selected, and it has not succeeded before",
  "other-condition":
    "not selected, and its last attempt had another network: no mean holds attempts of two conditions",
  "other-inputs": "not selected, and its last result was made from other inputs than those known now",
};

/** A damaged record has no outputs here; its own stage reports the damage. */
function recordOf(key: string, { attempts }: Workspace): HeldRecord | undefined {
  try {
    return attempts.find(key);
  } catch (error) {
    if (error instanceof DamagedRecord) return undefined;
    throw error;
  }
}
