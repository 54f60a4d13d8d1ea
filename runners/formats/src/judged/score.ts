// score.json: the score of one submission. A failed stage is "not measured" too; the report derives that from its
// outcome. A scorer writes "not measured" only where its scorer.yaml names no program to measure with (ADR 12).
import * as t from "../schema.ts";

export const direction = t.oneOf("higher", "lower");

export const scorerVersion = t.about(
  t.positiveInteger,
  "version of the scorer, from scorer.yaml: raised when its meaning changes",
);

export const standardError = { type: "number", minimum: 0 } as const;

export const scored = t.variant("scored", {
  value: t.number,
  standardError: t.about(standardError, "over items (documents, pairs, questions), never over attempts"),
  items: t.about(t.count, "number of items behind the value"),
  groups: t.about(
    t.tableOf(t.wholeObject({ value: t.number, items: t.count })),
    "values by group, e.g. a phenomenon or a subject",
  ),
  extra: t.about(t.tableOf(t.number), "further numbers by name, e.g. tiesHalf"),
});
export type Scored = t.TypeOf<typeof scored>;

export const rejected = t.variant("rejected", { reason: t.anyText });

const unmeasured = t.about(
  t.variant("not-measured", { reason: t.anyText }),
  "no program to measure with is named; nothing is wrong with the submission",
);

export const score = t.fileFormat(
  "mlrb score",
  t.kindsWith(
    { formatVersion: { const: 1 }, scorer: t.text, version: scorerVersion, unit: t.text, direction },
    scored,
    rejected,
    unmeasured,
  ),
);
export type Score = t.TypeOf<typeof score>;
