// Converts an instance to the scheduler's form.
import { environmentStage, type Instance } from "@mlrb/core/plan/plan";
import { runsHere } from "@mlrb/core/plan/runs-here";
import type { Work } from "@mlrb/core/schedule/schedule-state";
import type { Workspace } from "../store/workspace.ts";

/** By position in the selection. Instances that are not selected block nothing. */
export function workOf(
  instance: Instance,
  context: { position: Map<number, number>; starts?: Map<number, number>; workspace: Workspace },
): Work {
  const { position, starts, workspace } = context;
  const start = starts?.get(instance.index);
  const positions = (indices: number[]) =>
    [...new Set(indices)].map((index) => position.get(index)).filter((at) => at !== undefined);
  const environment = instance.environment === undefined ? undefined : position.get(instance.environment);
  return {
    id: instance.id,
    needs: positions(instance.inputs.map(({ from }) => from)),
    collects: positions(instance.members.map(({ from }) => from)),
    ...(environment !== undefined && { environment }),
    ...(instance.checks && { checks: positions(instance.checks) }),
    resources: runsHere(instance) ? instance.execution.resources : elsewhere(instance),
    ...(start !== undefined && { start }),
    expectedMs: workspace.last.get(instance.id)?.durationMs ?? 1000,
    lazy: instance.stage.name === environmentStage,
  };
}

/** It takes its share of pools, such as concurrent calls of a provider, and nothing of this host. */
function elsewhere({ execution }: Instance): Work["resources"] {
  return { cpus: 0, memoryBytes: 0, gpus: 0, pools: execution.resources.pools };
}
