// Finds the state of each selected instance: what a run would do, what runs now, how it ended last.
// Only reads: takes no lease and never waits.

import type { Plan } from "@mlrb/core/plan/plan";
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { damagedAttempts } from "@mlrb/local/attempts/attempt-folders";
import { waitingAttempts } from "@mlrb/local/attempts/attempt-waits";
import { orphanedAttempts } from "@mlrb/local/attempts/collect-ended-attempts";
import { type Preview, previewPlan } from "@mlrb/local/decide/preview-plan";
import { lastEnds } from "@mlrb/local/journal/last-ends";
import { liveRuns } from "@mlrb/local/leases/live-runs";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import { type ShownWait, shownWait, type WaitPlace } from "../show/attempt-wait-text.ts";
import { type InstanceState, instanceState } from "../show/instance-state.ts";
import { attemptSums, recordedCost } from "./attempt-sums.ts";
import { unrecordedAttempts } from "./unrecorded-attempts.ts";

export type ReadStates = Awaited<ReturnType<typeof readStates>>;

export type InstanceNow = {
  preview: Preview;
  state: InstanceState;
  lastEnd?: { outcome: Outcome; time: string };
};

/** An attempt that is running although the run that started it has ended. */
export type Orphan = { stage: string; since: string; supervisor: Owner };

type StateQuery = { plan: Plan; selected: number[]; root: string };

export async function readStates(repository: string, { plan, selected, root }: StateQuery) {
  const { pipeline, profile } = plan;
  const workspace = openWorkspace({ repository, root, pipeline, profile });
  // live runs first: an instance that ends during the rest of this function is then found done, not lost
  const isOurs = (slot: { pipeline: string; profile: string }) =>
    slot.pipeline === pipeline && slot.profile === profile;
  const live = liveRuns(workspace.state).filter(isOurs);
  const adopted = new Set(live.flatMap(({ stages }) => stages.map(({ stage }) => stage)));
  const orphans = orphanedAttempts(workspace).flatMap(({ card, state }): Orphan[] => {
    const { stage } = card.slot;
    return isOurs(card.slot) && !adopted.has(stage) && state.kind === "running"
      ? [{ stage, since: card.startedAt, supervisor: state.supervisor }]
      : [];
  });
  let recorded: HeldRecord[] = [];
  const unrecorded = unrecordedAttempts(workspace.state, () => {
    recorded = workspace.attempts.readable(undefined, plan);
    return recorded;
  });
  const sums = attemptSums(
    recorded.filter(({ record }) => isOurs(record.slot)).map(({ record }) => recordedCost(record)),
    unrecorded.filter(({ card }) => isOurs(card.slot)),
  );
  const running = new Set([...adopted, ...orphans.map(({ stage }) => stage)]);
  const { previews, results } = await previewPlan(plan, selected, {
    workspace,
    stale: { kind: plan.onStale },
  });
  const idOf = ({ index }: Preview) => plan.instances[index]!.id;
  const wanted = previews.filter(({ action }) => action !== "reuse").map(idOf);
  const ends = lastEnds(workspace.state.journals, { pipeline, profile, wanted });
  const instances = previews.map((preview): InstanceNow => {
    const id = idOf(preview);
    const lastEnd = ends.get(id);
    const state = instanceState({
      preview,
      running: running.has(id) && preview.action !== "reuse",
      succeeded: workspace.last.get(id) !== undefined,
      lastEnd: lastEnd?.outcome,
    });
    return { preview, state, ...(lastEnd && { lastEnd }) };
  });
  const waits = waitsOf(plan, { state: workspace.state, repository, root });
  const damaged = damagedAttempts(workspace.state.running).map(({ words }) => words);
  return {
    /** In plan order, one for each selected instance. */
    instances,
    /** Runs of this pipeline and profile that may be alive. */
    live,
    /** Its attempts that continue without a run. */
    orphans,
    /** What its attempts wait for, with or without a run. */
    waits,
    /** Attempts of any pipeline whose card cannot be read: folder, fault and way out. */
    damaged,
    /** What its attempts have cost so far. */
    sums,
    /** What would be reused, by plan index. */
    results,
    workspace,
  };
}

/** What the attempts of this pipeline and profile wait for. */
export function waitsOf(
  { pipeline, profile }: Pick<Plan, "pipeline" | "profile">,
  { state, ...at }: WaitPlace & Pick<Workspace, "state">,
): ShownWait[] {
  return waitingAttempts(state.running)
    .filter(({ card: { slot } }) => slot.pipeline === pipeline && slot.profile === profile)
    .map((one) => shownWait(one, at));
}
