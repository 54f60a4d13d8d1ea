// The order in which instances of a stage with `startBy` start. A run that ends early has then tried every
// combination of the other axes about equally often.
import { createHash } from "node:crypto";
import type { Instance } from "../plan/plan.ts";

/**
 * The place of each such instance, from 0, by its index in the plan: by the value of the axis, in the plan's
 * order, and at random within a value. The order depends on nothing but the pipeline's name and the instances'
 * ids.
 */
export function startOrder(pipeline: string, instances: readonly Instance[]): Map<number, number> {
  const blocks = new Map<string, number>();
  const drawn = instances.flatMap(({ index, id, stage, axes, execution: { startBy } }) => {
    if (startBy === undefined) return [];
    const block = blocks.getOrInsert(`${stage.name} ${axes[startBy]}`, blocks.size);
    return [{ index, block, ticket: createHash("sha256").update(`${pipeline}\n${id}`).digest("hex") }];
  });
  drawn.sort((a, b) => a.block - b.block || (a.ticket < b.ticket ? -1 : 1));
  return new Map(drawn.map(({ index }, place) => [index, place]));
}
