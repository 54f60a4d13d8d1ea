// A plan as JSON and back. Instances share stages, actions and executions; each is written once, since a plan of two
// hundred instances would otherwise take megabytes.
// Pure: no disk, no clock.
import type { ActionSpec, Execution, Instance, Plan, PlannedStage } from "@mlrb/core/plan/plan";

export type PackedPlan = Omit<Plan, "stages" | "instances"> & {
  /** The plan's stages first; then those that only instances have (environments). */
  shared: { stages: PlannedStage[]; actions: ActionSpec[]; executions: Execution[] };
  stages: number;
  instances: (Omit<Instance, "stage" | "action" | "execution"> & {
    stage: number;
    action: number;
    execution: number;
  })[];
};

export function packPlan(plan: Plan): PackedPlan {
  const stages = new Numbers<PlannedStage>(plan.stages);
  const actions = new Numbers<ActionSpec>([]);
  const executions = new Numbers<Execution>([]);
  const instances = plan.instances.map(({ stage, action, execution, ...rest }) => ({
    ...rest,
    stage: stages.of(stage),
    action: actions.of(action),
    execution: executions.of(execution),
  }));
  const shared = { stages: stages.all, actions: actions.all, executions: executions.all };
  return { ...plan, shared, stages: plan.stages.length, instances };
}

export function unpackPlan({ shared, stages, instances, ...rest }: PackedPlan): Plan {
  return {
    ...rest,
    stages: shared.stages.slice(0, stages),
    instances: instances.map(({ stage, action, execution, ...own }) => ({
      ...own,
      stage: shared.stages[stage]!,
      action: shared.actions[action]!,
      execution: shared.executions[execution]!,
    })),
  };
}

/** Numbers objects by identity, in the order of first use. */
class Numbers<Thing> {
  readonly all: Thing[];
  readonly #known: Map<Thing, number>;

  constructor(first: Thing[]) {
    this.all = [...first];
    this.#known = new Map(first.map((thing, at) => [thing, at]));
  }

  of(thing: Thing): number {
    const held = this.#known.get(thing);
    if (held !== undefined) return held;
    this.#known.set(thing, this.all.length);
    this.all.push(thing);
    return this.all.length - 1;
  }
}
