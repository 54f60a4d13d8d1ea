// Trivial baselines and reference models in report.json: rows to compare the agents' means with.

import { anchorKind, parameterCount } from "../judged/anchors.ts";
import { standardError } from "../judged/score.ts";
import {
  anyText,
  flag,
  kindsOf,
  listOf,
  nullable,
  number,
  oneOf,
  type TypeOf,
  wholeObject,
} from "../schema.ts";

const nothing = { type: "null" } as const;

const rowValue = {
  type: "object",
  anyOf: [
    wholeObject({ value: number, standardError: nullable(standardError), rejected: nothing }),
    wholeObject({ value: nothing, standardError: nothing, rejected: anyText }),
  ],
} as const;
/** The value of a row, or why its model was rejected; then it has no number. */
export type RowValue = TypeOf<typeof rowValue>;

const standing = kindsOf(
  wholeObject({ kind: oneOf("better", "worse"), agent: anyText, by: { ...number, minimum: 0 } }),
  wholeObject({ kind: { const: "level" }, agent: anyText }),
  wholeObject({ kind: { const: "unknown" }, agent: anyText }),
);
export type Standing = TypeOf<typeof standing>;

export const row = {
  ...wholeObject({
    task: anyText,
    metric: anyText,
    name: anyText,
    title: anyText,
    kind: { ...nullable(anchorKind), description: "null if its scorer names none" },
    parameters: { ...nullable(parameterCount), description: "null if unknown, or if it is no model" },
    floor: flag,
    anchor: { ...flag, description: "whether it is the reference model, 1 on the normalised scale" },
    standings: {
      ...listOf(standing),
      description: "each agent's mean relative to this row; `by` is in the metric's unit",
    },
  }),
  anyOf: rowValue.anyOf,
} as const;
export type Row = TypeOf<typeof row>;
