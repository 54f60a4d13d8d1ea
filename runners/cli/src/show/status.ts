// The data of `pipeline status`: each stage's instances by state, what runs now, what failed last, and the
// attempts. Pure: no disk, no clock.

import type { Plan } from "@mlrb/core/plan/plan";
import { outcomeCause } from "@mlrb/core/ports/outcome";
import type { HeldGpu } from "@mlrb/local/leases/gpu-leases";
import type { InstanceNow, ReadStates } from "../attempts/read-states.ts";
import type { Ended, Trouble } from "../attempts/troubles.ts";
import { totalCost } from "../gates/total-cost.ts";
import { countStates } from "./instance-state.ts";

export type Status = ReturnType<typeof statusOf> & {
  /** What `ofOwnPlan` left out of the same pipeline and profile, which may still spend money. */
  others?: { attempts: number; runs: number };
};

type Read = Pick<ReadStates, "instances" | "live" | "orphans" | "waits"> &
  Partial<Pick<ReadStates, "damaged" | "sums">> & {
    gpus: HeldGpu[];
    troubles?: (failed: Ended[]) => Trouble[];
  };

export function statusOf(
  plan: Plan,
  { instances, live, orphans, waits, damaged = [], gpus, sums, troubles = () => [] }: Read,
) {
  const stageOf = ({ preview }: InstanceNow) => plan.instances[preview.index]!.stage;
  const idOf = ({ preview }: InstanceNow) => plan.instances[preview.index]!.id;
  const byStage = Map.groupBy(instances, (one) => stageOf(one).name);
  const groups = new Map(plan.stages.flatMap(({ name, spec: { group } }) => (group ? [[name, group]] : [])));
  const attempts = instances.filter((one) => stageOf(one).durable);
  const toRun = instances
    .filter(({ state }) => state !== "running")
    .map(({ preview }) => preview)
    .filter(({ action, onStale }) => action === "run" || (action === "stale" && onStale === "rerun"));
  const failed = instances.filter(({ state }) => state === "failed");
  return {
    pipeline: plan.pipeline,
    profile: plan.profile,
    selection: plan.selection,
    /** In plan order; only stages with a selected instance. */
    stages: [...byStage].map(([name, all]) => ({
      name,
      ...(groups.has(name) && { group: groups.get(name)! }),
      instances: all.length,
      states: countStates(all.map(({ state }) => state)),
    })),
    states: countStates(instances.map(({ state }) => state)),
    runs: live,
    orphans,
    waits,
    damaged,
    /** In use on this host, by any run. */
    gpus,
    failed: failed.map((one) => ({
      stage: idOf(one),
      cause: outcomeCause(one.lastEnd!.outcome),
      time: one.lastEnd!.time,
    })),
    /** What the machine or a provider made fail, or waits for a person. */
    troubles: troubles(failed.map((one) => ({ stage: idOf(one), outcome: one.lastEnd!.outcome }))),
    /** Of durable stages; undefined if the pipeline has none. */
    attempts:
      attempts.length === 0
        ? undefined
        : {
            states: countStates(attempts.map(({ state }) => state)),
            ...(sums && { spent: sums }),
            cost: totalCost(
              attempts.filter(({ state }) => state !== "running").map(({ preview }) => preview),
              true,
            ),
          },
    toRun: {
      instances: toRun.length,
      /** Stale attempts that a run would leave stale. */
      leftStale: attempts.filter(({ preview }) => preview.onStale === "leave" && preview.cost !== undefined)
        .length,
      /** From earlier durations; 0 if nothing was timed. */
      expectedMs: toRun.reduce((sum, { expectedMs }) => sum + (expectedMs ?? 0), 0),
      untimed: toRun.filter(({ expectedMs }) => expectedMs === undefined).length,
    },
    /** Instances that cannot run again: weights that they would read were removed. */
    thinned: instances.filter(
      ({ preview }) => preview.action !== "reuse" && preview.reasons.some(({ kind }) => kind === "thinned"),
    ).length,
    publishes: plan.stages.some(({ publishes }) => publishes),
  };
}

/**
 * Without what other selections of the pipeline and other pipelines do: their stages are not in the table, and a
 * hint to stop one would end work that the reader did not ask about. Running attempts of the same pipeline are
 * counted, since they spend money also after their seed or agent was removed. Attempts with an unreadable card
 * stay: one may be ours.
 */
export function ofOwnPlan(status: Status, { instances }: Pick<Plan, "instances">): Status {
  const own = new Set(instances.map(({ id }) => id));
  const isOwn = ({ stage }: { stage: string }) => own.has(stage);
  const durable = new Map(instances.map(({ stage }) => [stage.name, stage.durable]));
  // a stage that this plan does not have may be an attempt
  const isAttempt = ({ stage }: { stage: string }) => durable.get(stage.split("[", 1)[0]!) !== false;
  const foreign = [...status.runs.flatMap(({ stages }) => stages), ...status.orphans].filter(
    (one) => !isOwn(one) && isAttempt(one),
  );
  const runs = status.runs
    .map((run) => ({ ...run, stages: run.stages.filter(isOwn), waiting: run.waiting.filter(isOwn) }))
    .filter(
      ({ selection, stages, waiting }) =>
        selection === status.selection || stages.length + waiting.length > 0,
    );
  return {
    ...status,
    others: {
      attempts: new Set(foreign.map(({ stage }) => stage)).size,
      runs: status.runs.length - runs.length,
    },
    runs,
    orphans: status.orphans.filter(isOwn),
    waits: status.waits.filter(isOwn),
    troubles: status.troubles.filter(isOwn),
    gpus: status.gpus.filter(isOwn),
  };
}
