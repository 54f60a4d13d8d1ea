// Converts an instance to the scheduler's form.
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import { runsHere } from "@mlrb/core/plan/runs-here";
import type { Work } from "@mlrb/core/schedule/schedule-state";
import type { Workspace } from "../store/workspace.ts";

/** By position in the selection. Instances that are not selected block nothing. */
export function workOf(
  instance: Instance,
  context: {
    plan: Plan;
    position: Map<number, number>;
    starts?: Map<number, number>;
    workspace: Workspace;
  },
): Work {
  const { plan, position, starts, workspace } = context;
  const start = starts?.get(instance.index);
  const positions = (indices: number[]) =>
    [...new Set(indices)].map((index) => position.get(index)).filter((at) => at !== undefined);
  const uses = instance.uses && position.get(instance.uses.from);
  // the key of a service, which is in its user's key, needs its inputs
  const inputs = [...instance.inputs, ...(instance.uses ? plan.instances[instance.uses.from]!.inputs : [])];
  const environment = instance.environment === undefined ? undefined : position.get(instance.environment);
  return {
    id: instance.id,
    needs: positions(inputs.map(({ from }) => from)),
    collects: positions(instance.members.map(({ from }) => from)),
    ...(environment !== undefined && { environment }),
    ...(uses !== undefined && { uses }),
    ...(instance.checks && { checks: positions(instance.checks) }),
    resources: runsHere(instance) ? instance.execution.resources : elsewhere(instance),
    ...(start !== undefined && { start }),
    expectedMs: expectedMs(instance, { plan, workspace }) ?? 1000,
    lazy: instance.stage.name === environmentStage || instance.execution.service !== undefined,
  };
}

/** As its last run took, else as the profile declares; undefined if neither is known. */
export function expectedMs(
  { id, stage }: Instance,
  { plan, workspace }: { plan: Plan; workspace: Workspace },
): number | undefined {
  const declared = Object.hasOwn(plan.takesMs, stage.name) ? plan.takesMs[stage.name] : undefined;
  return workspace.last.get(id)?.durationMs ?? declared;
}

/** It takes its share of pools, such as concurrent calls of a provider, and nothing of this host. */
function elsewhere({ execution }: Instance): Work["resources"] {
  return { cpus: 0, memoryBytes: 0, gpus: 0, pools: execution.resources.pools };
}
