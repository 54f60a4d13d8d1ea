// Where an attempt begins that is a branch of another one: at a checkpoint of its parent.

import { ordinal } from "../attempt/trajectory-event.ts";
import { amount, count, sha256, type TypeOf, text, wholeObject } from "../schema.ts";

const branchFields = {
  parent: { ...text, description: "the folder's name of the attempt from which it branches" },
  head: { ...sha256, description: "digest of the parent's line after which it branches" },
  after: {
    ...count,
    description: "lines of the parent's trajectory up to there, which are its own first lines",
  },
  step: { ...count, description: "answers of its models up to there" },
  number: { ...ordinal, description: "of the branches from there" },
  sinceStartMs: { ...amount, description: "the parent's clock at that place" },
  workingMs: {
    ...amount,
    description: "the parent's working time at that place: used up for the branch too",
  },
} as const;

const { sinceStartMs: _, ...ofEvent } = branchFields;
/** Of the event: a line of a trajectory has `sinceStartMs` itself. */
export const branchedFields = ofEvent;

export const branch = {
  ...wholeObject(branchFields),
  description: "of an attempt that branches from a checkpoint of another one; absent for any other",
} as const;
export type Branch = TypeOf<typeof branch>;

/** Its value of the axis `branch`: `3f2a90c1d2e4@17`, and from the second one on `3f2a90c1d2e4@17.2`. */
export function branchName({ parent, step, number }: Branch): string {
  return `${parent.slice(0, 12)}@${step}${number > 1 ? `.${number}` : ""}`;
}
