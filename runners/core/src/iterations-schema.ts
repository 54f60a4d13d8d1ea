// The schema of iterations.json, for programs that read it. Types: iteration-record.ts.

import { failureOwner } from "@mlrb/formats/trajectory";
import { stagesOfResearch } from "./iteration-record.ts";

const text = { type: "string" } as const;
const maybeText = { type: ["string", "null"] } as const;
const number = { type: "number" } as const;
const maybeNumber = { type: ["number", "null"] } as const;
const count = { type: "integer", minimum: 0 } as const;

const closed = (properties: Record<string, object>, description?: string) => ({
  ...(description && { description }),
  type: "object",
  additionalProperties: false,
  properties,
  required: Object.keys(properties),
});
const orNull = (schema: object) => ({ anyOf: [schema, { type: "null" }] });

const failure = closed({
  pattern: { ...text, description: "the rule that found it" },
  whose: failureOwner,
  where: { enum: [...stagesOfResearch, "cannot-tell"] },
  detail: text,
  evidence: { type: "array", items: count, description: "indexes of events of the trajectory" },
});

const iteration = closed({
  formatVersion: { const: 1 },
  id: text,
  parent: maybeText,
  time: text,
  sinceStartMs: count,
  hypothesis: maybeText,
  change: maybeText,
  command: maybeText,
  metric: orNull(closed({ name: text, split: maybeText, value: maybeNumber })),
  predicted: maybeNumber,
  decision: maybeText,
  measured: { ...maybeNumber, description: "the metric as a program printed it within the iteration" },
  cost: closed({ wallMs: count, tokens: maybeNumber, dollars: maybeNumber }),
  failure: orNull(failure),
  source: { enum: ["agent", "rule"], description: "agent: its own line, a claim" },
  executed: { type: "boolean" },
  changed: { type: "boolean" },
  counts: { type: "boolean", description: "a program ran and a digest changed" },
  events: { type: "array", items: count, minItems: 2, maxItems: 2 },
});

const measures = closed({
  firstValidMs: maybeNumber,
  firstValidBy: { enum: ["admitted", "has-a-file"] },
  executedIterations: count,
  claimedOnly: count,
  metric: orNull(closed({ name: text, split: maybeText })),
  values: {
    type: "array",
    items: closed({ value: number, sinceStartMs: count, predicted: maybeNumber }),
  },
  predictionError: maybeNumber,
  predictions: count,
});

export const iterationsSchema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "mlrb iterations of an attempt",
  oneOf: [
    closed({
      formatVersion: { const: 1 },
      kind: { const: "found" },
      iterations: { type: "array", items: iteration },
      iterationsMore: count,
      malformedLines: count,
      failures: { type: "array", items: failure },
      failure: orNull(failure),
      measures,
    }),
    closed({ formatVersion: { const: 1 }, kind: { const: "not-measured" }, reason: text }),
  ],
} as const;
