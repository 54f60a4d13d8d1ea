// Previews a run without running it: the same decision for each instance. If an upstream instance runs first, the
// key is not known yet and the decision is uncertain.

import type { Reason } from "@mlrb/core/key/reasons";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import { unreachable } from "@mlrb/core/ports/outcome";
import { type CostEstimate, estimateCost } from "../records/estimate-cost.ts";
import { reusedResult } from "../run/instance-ends.ts";
import type { Result } from "../run/result.ts";
import type { StalePolicy } from "../run/run-request.ts";
import type { Workspace } from "../store/workspace.ts";
import { type DecideContext, decideInstance, failedDecision } from "./decide-instance.ts";

export type Preview = {
  index: number;
  /** `stale`: the record in the slot has other key parts; `onStale` is what a run does then. */
  action: "run" | "reuse" | "stale";
  onStale?: StalePolicy["kind"];
  /** False if an early cutoff upstream may still allow reuse. */
  certain: boolean;
  reasons: Reason[];
  /** Of the action that a run would reuse. */
  key?: string;
  expectedMs: number | undefined;
  /** For an attempt that would run, or would run with `--rerun`. */
  cost?: CostEstimate;
  /** Of such an attempt that uses a service with GPUs: what the service takes for it alone. */
  served?: { service: string; gpuHours: number | null };
};

/** `results`: the reused results, by plan index. */
export async function previewPlan(
  plan: Plan,
  selected: number[],
  { workspace, stale }: { workspace: Workspace; stale: StalePolicy },
): Promise<{ previews: Preview[]; results: (Result | undefined)[] }> {
  const results: (Result | undefined)[] = plan.instances.map(() => undefined);
  const previews = new Map<number, Preview>();
  const runners = new Map<string, number>();
  const declared: DecideContext["declared"] = new Map();
  for (const index of selected) {
    const instance = plan.instances[index]!;
    const expectedMs = workspace.last.get(instance.id)?.durationMs;
    const context = { plan, workspace, stale, results, previews, runners, declared };
    const preview = await previewOne(instance, context).catch(cannotStart);
    const costs = instance.stage.durable && preview.action !== "reuse" && !isFree(preview);
    previews.set(index, {
      index,
      expectedMs,
      ...preview,
      ...(costs && pricedOf(instance, { plan, workspace })),
    });
  }
  lazyInstances(plan, previews);
  workspace.digests.save();
  workspace.codes.save();
  return { previews: [...previews.values()], results };
}

function pricedOf(
  instance: Instance,
  { plan, workspace }: { plan: Plan; workspace: Workspace },
): Pick<Preview, "cost" | "served"> {
  const cost = estimateCost(instance, workspace);
  const { uses } = instance;
  const gpus = uses ? plan.instances[uses.from]!.execution.resources.gpus : 0;
  if (!uses || gpus === 0) return { cost };
  const gpuHours = cost.timeMs === null ? null : (gpus * cost.timeMs) / 3_600_000;
  return { cost, served: { service: uses.name, gpuHours } };
}

/** Whether a run starts no attempt here: one is paid for and still runs, or a person must choose a record first. */
function isFree({ action, reasons }: Answer): boolean {
  return reasons.some(({ kind }) => kind === "goes-on" || (kind === "undecided" && action === "run"));
}

type Context = DecideContext & { previews: Map<number, Preview> };

type Answer = Pick<Preview, "action" | "certain" | "reasons" | "onStale" | "key">;

/** Answers for an instance that cannot be bound yet, because its upstream is stale or runs first. */
function afterUpstream(
  instance: Instance,
  { plan, workspace, results, previews }: Context,
): Answer | undefined {
  const ofService = instance.uses ? plan.instances[instance.uses.from]!.inputs : [];
  const needed = [...instance.inputs, ...ofService].map(({ from }) => previews.get(from));
  const left = needed.find((one) => one?.action === "stale" && one.onStale === "leave");
  if (left) {
    const stage = plan.instances[left.index]!.id;
    results[instance.index] = { outcome: { kind: "skipped", because: stage }, outputs: {} };
    const thinned = left.reasons.find(({ kind }) => kind === "thinned");
    const reason = thinned ?? ({ kind: "upstream-stale", stage } as const);
    return { action: "stale", onStale: "leave", certain: true, reasons: [reason] };
  }
  const before = [...needed, ...instance.members.map(({ from }) => previews.get(from))];
  const running = before.find((one) => one && results[one.index] === undefined);
  if (!running) return undefined;
  const stage = plan.instances[running.index]!.id;
  const record = instance.stage.durable && workspace.attempts.inSlot({ ...plan, stage: instance.id });
  // an input that is not built yet is assumed to equal the record's; the run checks this
  const action = record && running.reasons.every(onlyMissing) ? "reuse" : "run";
  return { action, certain: false, reasons: [{ kind: "upstream-runs", stage }] };
}

async function previewOne(instance: Instance, context: Context): Promise<Answer> {
  const upstream = afterUpstream(instance, context);
  if (upstream) return upstream;
  const { results } = context;
  const decision = await decideInstance(instance, context);
  const { action, reasons } = decision;
  switch (action) {
    case "reuse":
      results[instance.index] = reusedResult(decision.cached, decision.note);
      return { action: "reuse", certain: true, reasons, ...(decision.bound && { key: decision.bound.key }) };
    case "same":
      return { action: "reuse", certain: true, reasons };
    case "run":
      if (decision.stale) return { action: "stale", onStale: "rerun", certain: true, reasons };
      break;
    case "leave":
      results[instance.index] = { outcome: decision.outcome, outputs: {} };
      return { action: "stale", onStale: "leave", certain: true, reasons };
    case "fail":
      break; // the run reports the failure
    default:
      return unreachable(action);
  }
  return { action: "run", certain: true, reasons };
}

function cannotStart(error: unknown): Answer {
  return { action: "run", certain: true, reasons: failedDecision(error).reasons };
}

/** Whether a stage runs only because its result is missing, and not because something changed. */
function onlyMissing({ kind }: Reason): boolean {
  return kind === "output-missing" || kind === "first-run";
}

/** An environment is built, and a service started, only when an instance that runs needs it. */
function lazyInstances(plan: Plan, previews: Map<number, Preview>): void {
  const wanted = new Map<number, boolean>(); // its index → whether an instance that needs it certainly runs
  // users come before their services, which need their environments
  for (const { index, action, certain, onStale } of [...previews.values()].reverse()) {
    const { environment, uses, execution } = plan.instances[index]!;
    if (action === "reuse" || onStale === "leave") continue;
    if (execution.service && !wanted.has(index)) continue;
    for (const needed of [environment, uses?.from])
      if (needed !== undefined) wanted.set(needed, (wanted.get(needed) ?? false) || certain);
  }
  for (const preview of previews.values()) {
    const { stage, execution } = plan.instances[preview.index]!;
    const isLazy = stage.name === environmentStage || execution.service !== undefined;
    if (!isLazy || preview.action === "reuse") continue;
    const certain = wanted.get(preview.index);
    if (certain === undefined) Object.assign(preview, { action: "reuse", reasons: [{ kind: "not-needed" }] });
    else preview.certain = certain;
  }
}
