// score.json: the score of one submission. A failed stage is "not measured" too; the report derives that from its
// outcome. A scorer writes "not measured" only where its scorer.yaml names no program to measure with (ADR 12).
import {
  anyText,
  count,
  fileFormat,
  kindsWith,
  number,
  oneOf,
  type TypeOf,
  tableOf,
  text,
  wholeObject,
} from "../schema.ts";

export const direction = oneOf("higher", "lower");
export type Direction = TypeOf<typeof direction>;

export const scorerVersion = {
  type: "integer",
  minimum: 1,
  description: "version of the scorer, from scorer.yaml: raised when its meaning changes",
} as const;

export const standardError = { type: "number", minimum: 0 } as const;

export const scored = wholeObject({
  kind: { const: "scored" },
  value: number,
  standardError: {
    ...standardError,
    description: "over items (documents, pairs, questions), never over attempts",
  },
  items: { ...count, description: "number of items behind the value" },
  groups: {
    ...tableOf(wholeObject({ value: number, items: count })),
    description: "values by group, e.g. a phenomenon or a subject",
  },
  extra: { ...tableOf(number), description: "further numbers by name, e.g. tiesHalf" },
});
export type Scored = TypeOf<typeof scored>;

export const rejected = wholeObject({ kind: { const: "rejected" }, reason: anyText });

const unmeasured = {
  ...wholeObject({ kind: { const: "not-measured" }, reason: anyText }),
  description: "no program to measure with is named; nothing is wrong with the submission",
} as const;

export const score = fileFormat(
  "mlrb score",
  kindsWith(
    { formatVersion: { const: 1 }, scorer: text, version: scorerVersion, unit: text, direction },
    scored,
    rejected,
    unmeasured,
  ),
);
export type Score = TypeOf<typeof score>;
