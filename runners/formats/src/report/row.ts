// Trivial baselines and reference models in report.json: rows to compare the agents' means with.

import { parameterCount, referenceKind } from "../judged/references.ts";
import { standardError } from "../judged/score.ts";
import * as t from "../schema.ts";

const nothing = { type: "null" } as const;

const rowValue = {
  type: "object",
  anyOf: [
    t.wholeObject({ value: t.number, standardError: t.nullable(standardError), rejected: nothing }),
    t.wholeObject({ value: nothing, standardError: nothing, rejected: t.anyText }),
  ],
} as const;
/** The value of a row, or why its model was rejected; then it has no number. */
export type RowValue = t.TypeOf<typeof rowValue>;

const standing = t.kindsOf(
  t.wholeObject({ kind: t.oneOf("better", "worse"), agent: t.anyText, by: { ...t.number, minimum: 0 } }),
  t.variant("level", { agent: t.anyText }),
  t.variant("unknown", { agent: t.anyText }),
);
export type Standing = t.TypeOf<typeof standing>;

export const row = {
  ...t.wholeObject({
    task: t.anyText,
    metric: t.anyText,
    name: t.anyText,
    title: t.anyText,
    kind: t.about(t.nullable(referenceKind), "null if its scorer names none"),
    parameters: t.about(t.nullable(parameterCount), "null if unknown, or if it is no model"),
    baseline: t.flag,
    reference: t.about(t.flag, "whether it is the reference model, 1 on the normalised scale"),
    standings: t.about(
      t.listOf(standing),
      "each agent's mean relative to this row; `by` is in the metric's unit",
    ),
  }),
  anyOf: rowValue.anyOf,
} as const;
export type Row = t.TypeOf<typeof row>;
