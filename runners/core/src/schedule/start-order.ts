// The order in which instances of a stage with `startBy` start. A run that ends early has then tried every
// combination of the other axes about equally often.
import { createHash } from "node:crypto";
import type { Instance } from "../plan/plan.ts";

/**
 * The place of each such instance, from 0, by its index in the plan: by the values of the axes, in the plan's
 * order, and at random among equal ones. The order depends on nothing but the pipeline's name and the instances'
 * ids.
 */
export function startOrder(pipeline: string, instances: readonly Instance[]): Map<number, number> {
  const ranks = new Map<string, number>();
  const drawn = instances.flatMap(({ index, id, stage, axes, execution: { startBy } }) => {
    if (startBy === undefined) return [];
    const rank = startBy.map((axis) => ranks.getOrInsert(`${stage.name} ${axis} ${axes[axis]}`, ranks.size));
    return [{ index, rank, ticket: createHash("sha256").update(`${pipeline}\n${id}`).digest("hex") }];
  });
  const compare = (a: number[], b: number[]) =>
    a.map((rank, at) => rank - b[at]!).find((difference) => difference !== 0) ?? 0;
  drawn.sort((a, b) => compare(a.rank, b.rank) || (a.ticket < b.ticket ? -1 : 1));
  return new Map(drawn.map(({ index }, place) => [index, place]));
}
