// The order in which instances of a stage with `startBy` start. A run that ends early has then tried every
// combination of the other axes about equally often.
import { createHash } from "node:crypto";
import type { Instance } from "../plan/plan.ts";

/** Places count from 0; both by index in the plan. */
type StartOrder = {
  /** Of the instances of such stages. */
  places: Map<number, number>;
  /** Of all others with the first of the axes: the last place of their value. */
  blocks: Map<number, number>;
};

/**
 * By the values of the axes, in the plan's order, and at random among equal ones. The order depends on nothing but
 * the pipeline's name and the instances' ids.
 */
export function startOrder(pipeline: string, instances: readonly Instance[]): StartOrder {
  const ranks = new Map<string, number>();
  const drawn = instances.flatMap((instance) => {
    const { id, stage, axes, execution } = instance;
    if (!execution.startBy) return [];
    const rank = execution.startBy.map((axis) =>
      ranks.getOrInsert(`${stage.name} ${axis} ${axes[axis]}`, ranks.size),
    );
    const ticket = createHash("sha256").update(`${pipeline}\n${id}`).digest("hex");
    return [{ instance, rank, ticket }];
  });
  drawn.sort((a, b) => compareRanks(a.rank, b.rank) || (a.ticket < b.ticket ? -1 : 1));
  const places = new Map(drawn.map(({ instance }, place) => [instance.index, place]));
  const ends = new Map(
    drawn.map(({ instance }, place) => [axisValue(instance, instance.execution.startBy![0]!), place]),
  );
  const first = new Set(drawn.map(({ instance }) => instance.execution.startBy![0]!));
  const blocks = new Map<number, number>();
  for (const instance of instances)
    for (const axis of places.has(instance.index) ? [] : first) {
      const end = ends.get(axisValue(instance, axis));
      if (end !== undefined) blocks.set(instance.index, end);
    }
  return { places, blocks };
}

function axisValue({ axes }: Instance, axis: string): string {
  return `${axis} ${axes[axis]}`;
}

function compareRanks(a: number[], b: number[]): number {
  const at = a.findIndex((rank, index) => rank !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}
