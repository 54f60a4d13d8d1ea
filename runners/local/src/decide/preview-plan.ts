// What a run would do, without doing it: the same binding and look-up, instance by instance. Where
// something upstream runs first, the key is not known yet and the answer is not certain.

import type { Reason } from "@mlrb/core/key/reasons";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import { type CostEstimate, estimateCost } from "../records/estimate-cost.ts";
import { decisionFailure } from "../run/instance-ends.ts";
import type { Result } from "../run/result.ts";
import { leftStale, type StalePolicy } from "../run/run-request.ts";
import type { Workspace } from "../store/workspace.ts";
import { bind } from "./bind-inputs.ts";
import {
  foundRecord,
  lookUp,
  reasonsStale,
  reasonsToRerun,
  reasonsToReuse,
  reasonsToRun,
} from "./find-cached-action.ts";

export type Preview = {
  index: number;
  /** stale: a record in its slot was made from other things; `onStale` says what a run does then. */
  action: "run" | "reuse" | "stale";
  onStale?: StalePolicy["kind"];
  /** False where an early cutoff upstream may still let it be reused. */
  certain: boolean;
  reasons: Reason[];
  expectedMs: number | undefined;
  /** Of an attempt that would run, or would if it were told to. */
  cost?: CostEstimate;
};

/** `results` holds what would be reused, by plan index. */
export async function previewPlan(
  plan: Plan,
  selected: number[],
  { workspace, stale }: { workspace: Workspace; stale: StalePolicy },
): Promise<{ previews: Preview[]; results: (Result | undefined)[] }> {
  const results: (Result | undefined)[] = plan.instances.map(() => undefined);
  const previews = new Map<number, Preview>();
  const runs = new Map<string, string>();
  for (const index of selected) {
    const instance = plan.instances[index]!;
    const expectedMs = workspace.last.get(instance.id)?.durationMs;
    const context = { plan, workspace, stale, results, previews, runs };
    const preview = await previewOne(instance, context).catch(cannotStart);
    const goesOn = preview.reasons.some(({ kind }) => kind === "goes-on"); // it is paid for
    const costs = instance.stage.durable && preview.action !== "reuse" && !goesOn;
    previews.set(index, {
      index,
      expectedMs,
      ...preview,
      ...(costs && { cost: estimateCost(instance, workspace) }),
    });
  }
  lazyEnvironments(plan, previews);
  workspace.digests.save();
  workspace.codes.save();
  return { previews: [...previews.values()], results };
}

type Context = {
  plan: Plan;
  workspace: Workspace;
  stale: StalePolicy;
  results: (Result | undefined)[];
  previews: Map<number, Preview>;
  /** Which instance runs an action, by its key: the others that have the same reuse what it gives. */
  runs: Map<string, string>;
};

type Answer = Pick<Preview, "action" | "certain" | "reasons" | "onStale">;

async function previewOne(instance: Instance, context: Context): Promise<Answer> {
  const { plan, workspace, stale, results, previews, runs } = context;
  const needed = instance.inputs.map(({ from }) => previews.get(from));
  const left = needed.find((one) => one?.action === "stale" && one.onStale === "leave");
  if (left) {
    const stage = plan.instances[left.index]!.id;
    results[instance.index] = { outcome: { kind: "skipped", because: stage }, outputs: {} };
    return { action: "stale", onStale: "leave", certain: true, reasons: [{ kind: "upstream-stale", stage }] };
  }
  const before = [...needed, ...instance.members.map(({ from }) => previews.get(from))];
  const running = before.find((one) => one && results[one.index] === undefined);
  if (running) {
    const stage = plan.instances[running.index]!.id;
    const record = instance.stage.durable && workspace.attempts.inSlot({ ...plan, stage: instance.id });
    // what is not built yet is taken to come out as the record had it, and checked when it is built
    const action = record && running.reasons.every(onlyMissing) ? "reuse" : "run";
    return { action, certain: false, reasons: [{ kind: "upstream-runs", stage }] };
  }
  const bound = await bind(instance, { plan, workspace, results });
  const found = lookUp(instance, bound, { plan, workspace });
  if (found === undefined || found === "output-missing") {
    const runner = runs.get(bound.key);
    if (runner !== undefined)
      return { action: "reuse", certain: true, reasons: [{ kind: "same-action", stage: runner }] };
    runs.set(bound.key, instance.id);
    const reasons = found ? [{ kind: found }] : reasonsToRun(instance, bound, { plan, workspace });
    return { action: "run", certain: true, reasons };
  }
  if (!("stale" in found)) {
    results[instance.index] = { outcome: { kind: "reused" }, ...found };
    return { action: "reuse", certain: true, reasons: reasonsToReuse(bound, instance) };
  }
  const changed = reasonsStale(instance, bound, found.stale, plan);
  if (stale.kind === "accept") {
    const note = `stale, accepted: ${stale.why}`;
    results[instance.index] = { outcome: { kind: "reused" }, note, ...foundRecord(found.stale, workspace) };
    const reason: Reason = { kind: "stale-accepted", record: found.stale.digest, why: stale.why };
    return { action: "reuse", certain: true, reasons: [reason] };
  }
  const reason = { kind: "stale", record: found.stale.digest, changed } as const;
  if (stale.kind === "leave") results[instance.index] = { outcome: leftStale, outputs: {} };
  const reasons = stale.kind === "rerun" ? reasonsToRerun(reason, bound, workspace) : [reason];
  return { action: "stale", onStale: stale.kind, certain: true, reasons };
}

/** What a run would make of it: a failure of this instance, before anything of it starts. */
function cannotStart(error: unknown): Answer {
  const { detail } = decisionFailure(error);
  return { action: "run", certain: true, reasons: [{ kind: "cannot-start", detail }] };
}

/** A stage that runs only because its result is gone, not because anything changed. */
function onlyMissing({ kind }: Reason): boolean {
  return kind === "output-missing" || kind === "first-run";
}

/** An environment is built only when something that runs needs it. */
function lazyEnvironments(plan: Plan, previews: Map<number, Preview>): void {
  const wanted = new Map<number, boolean>(); // builder → whether some user runs for certain
  for (const { index, action, certain, onStale } of previews.values()) {
    const builder = plan.instances[index]!.environment;
    if (builder === undefined || action === "reuse" || onStale === "leave") continue;
    wanted.set(builder, (wanted.get(builder) ?? false) || certain);
  }
  for (const preview of previews.values()) {
    if (plan.instances[preview.index]!.stage.name !== environmentStage || preview.action === "reuse")
      continue;
    const certain = wanted.get(preview.index);
    if (certain === undefined) Object.assign(preview, { action: "reuse", reasons: [{ kind: "not-needed" }] });
    else preview.certain = certain;
  }
}
