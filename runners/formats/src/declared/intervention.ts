// What a person did to an attempt while it worked: more budget. The lines of interventions.jsonl in the attempt's
// folder ask for it; the trajectory, the ledger and the record say that it happened. Such an attempt leaves the
// primary tables: its agent had something that others did not have.
import * as t from "../schema.ts";

/** In the attempt's folder. Lines are only added. */
export const interventionsFile = "interventions.jsonl";

export const intervention = t.variant("extend", {
  formatVersion: { const: 1 },
  at: t.about(t.text, "ISO 8601, UTC"),
  by: t.about({ ...t.text, maxLength: 80 }, "the person, as typed or by login; not checked"),
  addedMs: t.about(t.count, "of working time"),
  addedDollars: t.about(t.amount, "of model calls"),
});
export type Intervention = t.TypeOf<typeof intervention>;

export const interventionSums = t.about(
  t.wholeObject({
    extensions: t.count,
    addedMs: t.about(t.count, "working time that its extensions added"),
    addedDollars: t.about(t.amount, "dollars that its extensions added"),
  }),
  "what people did to the attempt while it worked; it leaves the primary tables. Absent if nothing",
);
export type InterventionSums = t.TypeOf<typeof interventionSums>;

export const noInterventions: InterventionSums = { extensions: 0, addedMs: 0, addedDollars: 0 };

/** Whether means, tests, rates, costs and estimates count an attempt: nobody extended it. */
export function isUndisturbed({ interventions }: { interventions?: InterventionSums | undefined }): boolean {
  return interventions === undefined || interventions.extensions === 0;
}

/** Of an event. `number`: of the line of interventions.jsonl, from 1. */
export const extendedFields = {
  number: t.count,
  by: t.anyText,
  addedMs: t.count,
  addedDollars: t.amount,
} as const;
