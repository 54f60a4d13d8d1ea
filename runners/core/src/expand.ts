// Fans the stages out over their axes and binds every instance to the instances it reads from.
// Pure: no disk, no clock.
import type { Diagnostic } from "./diagnostic.ts";
import type { Scalar } from "./pipeline-spec.ts";
import { environmentStage, type Instance, instanceId, type PlannedStage } from "./plan.ts";
import { type ResolveContext, type Resolved, resolveAction } from "./resolve-action.ts";
import type { Axis } from "./resolve-axes.ts";

/** Instances in plan order: whatever one depends on stands before it. `stages` must be in that order. */
export function expand(stages: PlannedStage[], context: ResolveContext): Instance[] {
  const instances: Instance[] = [];
  const byStage = new Map<string, Instance[]>();
  const environments = new Map<string, number>();
  const lookup = new Map<string, number>();

  for (const stage of stages) {
    const mine: Instance[] = [];
    byStage.set(stage.name, mine);
    const resolve = resolver(stage, context);
    const keyOf = new Map(stage.needs.map((need) => [need, byStage.get(need.stage)![0]?.stage.each ?? []]));
    const collected = stage.collect.map((source) => ({
      source,
      group: grouped(byStage.get(source.stage)!, stage.each),
    }));
    for (const axes of points(stage.each, context.axes)) {
      const { action, execution, environment } = resolve(axes);
      const inputs = stage.needs.map((need) => {
        const from = lookup.get(instanceId(need.stage, pick(axes, keyOf.get(need)!)));
        if (from === undefined)
          throw new Error(`bug: ${stage.name} needs an instance of ${need.stage} that was not planned`);
        return { name: need.name, from, output: need.output };
      });
      const members = collected.flatMap(({ source, group }) =>
        (group.get(groupKey(axes, stage.each, byStage.get(source.stage)![0])) ?? []).map((from) => ({
          from,
          output: source.output,
        })),
      );
      const built =
        environment === undefined ? undefined : environmentOf(environment, { instances, environments });
      const id = instanceId(stage.name, axes);
      const instance: Instance = {
        index: instances.length,
        id,
        stage,
        axes,
        inputs,
        members,
        ...(built !== undefined && { environment: built }),
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

/** Fills a stage in once for each combination of the axes that its text mentions, not once an instance. */
function resolver(stage: PlannedStage, context: ResolveContext): (axes: Record<string, Scalar>) => Resolved {
  const text = JSON.stringify([stage.spec, context.execution(stage.name)]);
  // a manifest field may mention any axis of its own, so a selected manifest makes all axes count
  const selects = stage.each.some((axis) => text.includes(`{${axis}.`));
  const mentioned = selects ? stage.each : stage.each.filter((axis) => text.includes(`{${axis}}`));
  const known = new Map<string, Resolved>();
  return (axes) => {
    const key = JSON.stringify(mentioned.map((axis) => axes[axis]));
    let resolved = known.get(key);
    if (!resolved) {
      resolved = resolveAction(stage, axes, context);
      known.set(key, resolved);
    }
    return resolved;
  };
}

function grouped(instances: Instance[], each: string[]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const instance of instances) {
    const key = groupKey(instance.axes, each, instance);
    const group = groups.get(key);
    if (group) group.push(instance.index);
    else groups.set(key, [instance.index]);
  }
  return groups;
}

/** The values of the axes that a collecting stage shares with `member`. */
function groupKey(axes: Record<string, Scalar>, each: string[], member: Instance | undefined): string {
  return JSON.stringify(each.filter((axis) => member && axis in member.axes).map((axis) => axes[axis]));
}

function pick(axes: Record<string, Scalar>, names: string[]): Record<string, Scalar> {
  return Object.fromEntries(names.map((name) => [name, axes[name]!]));
}

/** The instance that builds the environment of a lock file, made when first asked for. */
function environmentOf(
  lock: string,
  plan: { instances: Instance[]; environments: Map<string, number> },
): number {
  const held = plan.environments.get(lock);
  if (held !== undefined) return held;
  const name = lock
    .split("/")
    .at(-1)!
    .replace(/\.[^.]*$/, "");
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
    execution: { executor: "local", resources: { cpus: 1, memoryBytes: 0, gpus: 0 }, limits: {} },
  });
  plan.environments.set(lock, index);
  return index;
}

/** Problems of instances that would bear the same name, e.g. two locks of one base name. */
export function duplicateInstances(instances: Instance[]): Diagnostic[] {
  const seen = new Set<string>();
  return instances.flatMap(({ id }) => {
    const twice = seen.has(id);
    seen.add(id);
    return twice
      ? [{ code: "duplicate", message: `two stage instances are called ${id}`, help: "rename one" }]
      : [];
  });
}
