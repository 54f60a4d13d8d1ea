// A plan as JSON and back. Instances share stages, actions and executions; each is written once, since a plan of
// two hundred instances would otherwise take megabytes. Pure: no disk, no clock.
import type { ActionSpec, Execution, Instance, Plan, PlannedStage } from "@mlrb/core/plan/plan";

type Shared = PlannedStage | ActionSpec | Execution;

/** `stages`, and the three fields of instances that are shared, are places in `shared`. */
export type PackedPlan = Omit<Plan, "stages" | "instances"> & {
  shared: Shared[];
  stages: number[];
  instances: (Omit<Instance, "stage" | "action" | "execution"> & {
    stage: number;
    action: number;
    execution: number;
  })[];
};

export function packPlan(plan: Plan): PackedPlan {
  const ofInstances = plan.instances.flatMap(({ stage, action, execution }) => [stage, action, execution]);
  const shared: Shared[] = [...new Set([...plan.stages, ...ofInstances])];
  const places = new Map(shared.map((one, at) => [one, at]));
  const at = (one: Shared) => places.get(one)!;
  const instances = plan.instances.map(({ stage, action, execution, ...own }) => ({
    ...{ ...own, stage: at(stage), action: at(action), execution: at(execution) },
  }));
  return { ...plan, shared, stages: plan.stages.map(at), instances };
}

export function unpackPlan({ shared, stages, instances, ...rest }: PackedPlan): Plan {
  return {
    ...{ ...rest, stages: stages.map((at) => shared[at] as PlannedStage) },
    instances: instances.map(({ stage, action, execution, ...own }) => ({
      ...{ ...own, stage: shared[stage] as PlannedStage, action: shared[action] as ActionSpec },
      execution: shared[execution] as Execution,
    })),
  };
}
