// What a person did to an attempt while it worked: more budget, or a message to its agent. The lines of
// interventions.jsonl in the attempt's folder ask for it; the trajectory, the ledger and the record say that it happened.
// Such an attempt leaves the primary tables: its agent had something that others did not have.
import { amount, anyText, count, kindsOf, type TypeOf, text, wholeObject } from "../schema.ts";

/** In the attempt's folder. Lines are only added. */
export const interventionsFile = "interventions.jsonl";

/** Of a message: longer texts would push the conversation out of an agent's context. */
export const messageMax = 10_000;

const asked = {
  formatVersion: { const: 1 },
  at: { ...text, description: "ISO 8601, UTC" },
  by: { ...text, maxLength: 80, description: "the person, as typed or by login; not checked" },
} as const;

export const intervention = kindsOf(
  wholeObject({
    kind: { const: "extend" },
    ...asked,
    addedMs: { ...count, description: "of working time" },
    addedDollars: { ...amount, description: "of model calls" },
  }),
  wholeObject({ kind: { const: "note" }, ...asked, text: { ...text, maxLength: messageMax } }),
);
export type Intervention = TypeOf<typeof intervention>;

export const interventionSums = {
  ...wholeObject({
    extensions: count,
    addedMs: { ...count, description: "working time that its extensions added" },
    addedDollars: { ...amount, description: "dollars that its extensions added" },
    notes: { ...count, description: "messages of people to its agent" },
  }),
  description:
    "what people did to the attempt while it worked; it leaves the primary tables. Absent if nothing",
} as const;
export type InterventionSums = TypeOf<typeof interventionSums>;

export const noInterventions: InterventionSums = { extensions: 0, addedMs: 0, addedDollars: 0, notes: 0 };

/** Whether means, tests, rates, costs and estimates count an attempt: nobody extended it or wrote to its agent. */
export function isUndisturbed({ interventions }: { interventions?: InterventionSums | undefined }): boolean {
  return interventions === undefined || interventions.extensions + interventions.notes === 0;
}

/** Events of a trajectory. `number`: of the line of interventions.jsonl, from 1. */
export const extendedFields = { number: count, by: anyText, addedMs: count, addedDollars: amount } as const;
export const personNoteFields = { number: count, by: anyText, text: anyText } as const;
