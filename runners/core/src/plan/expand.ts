// Fans the stages out over their axes and binds every instance to the instances that it reads from.
// Pure: no disk, no clock.
import { parse } from "node:path/posix";
import type { Scalar } from "@mlrb/formats/declared/pipeline";
import { checksBefore, checksOf, mayBeSkipped, skipped } from "./checks.ts";
import { lacksGateway } from "./gateways.ts";
import { environmentStage, type Instance, instanceId, type PlannedStage } from "./plan.ts";
import { type Resolved, resolveAction } from "./resolve-action.ts";
import type { Axis } from "./resolve-axes.ts";
import type { ResolveContext } from "./resolve-context.ts";

/** Instances in plan order: each comes after its dependencies. `stages` must be in that order. */
export function expand(stages: PlannedStage[], context: ResolveContext): Instance[] {
  const instances: Instance[] = [];
  const byStage = new Map<string, Instance[]>();
  const environments = new Map<string, number>();
  const lookup = new Map<string, number>();
  const checks = checksOf(stages, context.skipChecks);
  const mayLack = (stage: PlannedStage) => stage.spec.when !== undefined || mayBeSkipped(stage, checks);
  const conditional = new Set(stages.filter(mayLack).map(({ name }) => name));
  const eachOf = new Map(stages.map(({ name, each }) => [name, each]));

  for (const stage of stages) {
    const mine: Instance[] = [];
    byStage.set(stage.name, mine);
    const resolve = resolver(stage, context);
    const collected = stage.collect.map((source) => {
      const shared = stage.each.filter((axis) => eachOf.get(source.stage)!.includes(axis));
      const group = Map.groupBy(byStage.get(source.stage)!, ({ axes }) => groupKey(axes, shared));
      return { source, shared, group };
    });
    for (const axes of lacksGateway(stage, stages, context) ? [] : points(stage.each, context.axes)) {
      const { action, execution, environment, planned, uses } = resolve(axes);
      const id = instanceId(stage.name, axes);
      if (!planned || skipped(stage, id, checks)) continue;
      const idOf = (other: string) => instanceId(other, pick(axes, eachOf.get(other)!));
      const before = (other: string) => {
        const from = lookup.get(idOf(other));
        if (from !== undefined || conditional.has(other)) return from;
        throw new Error(`bug: ${stage.name} needs an instance of ${other} that was not planned`);
      };
      const all = (other: string) => byStage.get(other)!.map(({ index }) => index);
      const inputs = stage.needs.flatMap(({ name, stage: other, output }) => {
        const from = before(other);
        return from === undefined ? [] : [{ name, from, output }];
      });
      const members = collected.flatMap(({ source, shared, group }) =>
        (group.get(groupKey(axes, shared)) ?? []).map(({ index: from }) => ({
          from,
          output: source.output,
          ...(source.digestOnly && { digestOnly: true as const }),
        })),
      );
      const plan = { instances, environments, context };
      const built = environment === undefined ? undefined : environmentOf(environment, stage, plan);
      const instance: Instance = {
        index: instances.length,
        id,
        stage,
        axes,
        inputs,
        members,
        ...(built !== undefined && { environment: built }),
        ...(uses !== undefined && usedInstance(uses, lookup)),
        ...checksBefore(stage, { before, all, idOf, checks, needed: execution.needsCheck ?? false }),
        action,
        execution,
      };
      lookup.set(id, instance.index);
      instances.push(instance);
      mine.push(instance);
    }
  }
  return instances;
}

/** Undefined for a service that is reported as unknown. */
function usedInstance(name: string, lookup: Map<string, number>): Pick<Instance, "uses"> {
  const from = lookup.get(name);
  return from === undefined ? {} : { uses: { name, from } };
}

/** Every combination of the axes' values, the last axis fastest. */
function* points(
  each: string[],
  axes: Map<string, Axis>,
  chosen: Record<string, Scalar> = {},
): Generator<Record<string, Scalar>> {
  const [name, ...rest] = each;
  if (name === undefined) {
    yield { ...chosen };
    return;
  }
  const axis = axes.get(name)!;
  const values = axis.of === undefined ? axis.values : (axis.valuesOf!.get(chosen[axis.of]!) ?? []);
  for (const value of values) yield* points(rest, axes, { ...chosen, [name]: value });
}

/** Fills in every stage at every point only to collect problems; edges are ignored. */
export function checkActions(stages: PlannedStage[], context: ResolveContext): void {
  for (const stage of stages) {
    const resolve = resolver(stage, context);
    for (const axes of points(stage.each, context.axes)) resolve(axes);
  }
}

/** Fills a stage in once per combination of the axes that its text uses, not once per instance. */
function resolver(stage: PlannedStage, context: ResolveContext): (axes: Record<string, Scalar>) => Resolved {
  const deciding = decidingAxes(stage, context);
  const known = new Map<string, Resolved>();
  return (axes) => {
    const key = JSON.stringify(deciding.map((axis) => axes[axis]));
    return known.getOrInsertComputed(key, () => resolveAction(stage, axes, context));
  };
}

/** The axes that occur in the stage's text, or in a parameter or manifest that it may select. */
function decidingAxes(stage: PlannedStage, context: ResolveContext): string[] {
  const { params, manifests } = context;
  const own = JSON.stringify([stage.spec, context.execution(stage.name), params]);
  // a composed name, as in {{params.which}.title}, may be any axis
  if (/\{\{/.test(own)) return stage.each;
  const selected = [...manifests]
    .filter(([kind]) => own.includes(`{${kind}.`))
    .map(([, known]) => [...known]);
  const all = own + JSON.stringify(selected);
  return stage.each.filter((axis) => all.includes(`{${axis}}`) || all.includes(`{${axis}.`));
}

/** The values of the axes that a collecting stage shares with its members. */
function groupKey(axes: Record<string, Scalar>, shared: string[]): string {
  return JSON.stringify(shared.map((axis) => axes[axis]));
}

function pick(axes: Record<string, Scalar>, names: string[]): Record<string, Scalar> {
  return Object.fromEntries(names.map((name) => [name, axes[name]!]));
}

/** The index of the instance that builds the environment of a lock file; it is added on first use. */
function environmentOf(
  lock: string,
  user: PlannedStage,
  plan: { instances: Instance[]; environments: Map<string, number>; context: ResolveContext },
): number {
  const held = plan.environments.get(lock);
  if (held !== undefined) return held;
  const { name } = parse(lock);
  const twin = [...plan.environments].find(([, at]) => plan.instances[at]!.axes.name === name);
  if (twin) {
    plan.context.problems.push({
      code: "duplicate",
      message: `${twin[0]} and ${lock} would both build environment[name=${name}]`,
      place: plan.context.source.place(["stages", user.name, "environment"]),
      help: "give one of the two lock files another name",
    });
  }
  const axes = { name };
  const index = plan.instances.length;
  const spec = { script: "pipelines/steps/environment.ts", params: { lock } };
  plan.instances.push({
    index,
    id: instanceId(environmentStage, axes),
    stage: {
      name: environmentStage,
      each: ["name"],
      keyed: ["name"],
      needs: [],
      collect: [],
      gives: [{ name: "environment", file: "environment", kind: "dir", private: false }],
      durable: false,
      untrusted: false,
      publishes: false,
      spec,
    },
    axes,
    inputs: [],
    members: [],
    action: {
      run: { kind: "script", file: spec.script },
      params: { lock },
      files: [lock],
      env: {},
      secrets: [],
      budget: {},
      hostSensitive: true,
    },
    execution: {
      executor: "local",
      resources: { cpus: 1, memoryBytes: 0, gpus: 0, pools: {} },
      limits: {},
      retries: 0,
    },
  });
  plan.environments.set(lock, index);
  return index;
}
