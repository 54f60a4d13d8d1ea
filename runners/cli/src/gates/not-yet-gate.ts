// Instances that still lack something, as their stage says.
import { type Check, missing } from "./check.ts";
import type { Asked } from "./gate.ts";

/** Each reason once, with its first instance. */
export function notYetGate({ starts }: Pick<Asked, "starts">): Check[] {
  const reasons = new Map<string, string>();
  for (const { id, execution } of starts)
    if (execution.notYet !== undefined) reasons.getOrInsert(execution.notYet, id);
  if (reasons.size === 0) return [];
  const texts = [...reasons].map(([why, id]) => `${id}: ${why}`);
  const help =
    "choose another profile or another kind of data; with --only, stages that need no such instance run";
  return [missing("not yet", texts.join("; "), help, { code: "not-yet" })];
}
