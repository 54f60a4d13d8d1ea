// What a person did to an attempt while it worked: more budget. The lines of
// interventions.jsonl in the attempt's folder ask for it; the trajectory, the ledger and the record say that it happened.
// Such an attempt leaves the primary tables: its agent had something that others did not have.
import { amount, anyText, count, type TypeOf, text, wholeObject } from "../schema.ts";

/** In the attempt's folder. Lines are only added. */
export const interventionsFile = "interventions.jsonl";

export const intervention = wholeObject({
  kind: { const: "extend" },
  formatVersion: { const: 1 },
  at: { ...text, description: "ISO 8601, UTC" },
  by: { ...text, maxLength: 80, description: "the person, as typed or by login; not checked" },
  addedMs: { ...count, description: "of working time" },
  addedDollars: { ...amount, description: "of model calls" },
});
export type Intervention = TypeOf<typeof intervention>;

export const interventionSums = {
  ...wholeObject({
    extensions: count,
    addedMs: { ...count, description: "working time that its extensions added" },
    addedDollars: { ...amount, description: "dollars that its extensions added" },
  }),
  description:
    "what people did to the attempt while it worked; it leaves the primary tables. Absent if nothing",
} as const;
export type InterventionSums = TypeOf<typeof interventionSums>;

export const noInterventions: InterventionSums = { extensions: 0, addedMs: 0, addedDollars: 0 };

/** Whether means, tests, rates, costs and estimates count an attempt: nobody extended it. */
export function isUndisturbed({ interventions }: { interventions?: InterventionSums | undefined }): boolean {
  return interventions === undefined || interventions.extensions === 0;
}

/** Of an event. `number`: of the line of interventions.jsonl, from 1. */
export const extendedFields = { number: count, by: anyText, addedMs: count, addedDollars: amount } as const;
