// The columns of report.csv.

export const columns = [
  "kind",
  "label",
  "task",
  "agent",
  "seed",
  "metric",
  "primary",
  "unit",
  "direction",
  "verdict",
  "score",
  "value",
  "standardError",
  "items",
  "counted",
  "submission",
  "row",
  "reason",
  "note",
  "floor",
  "anchor",
  "normalised",
  "n",
  "implausible",
  "low",
  "high",
  "weakLimits",
  "origin",
] as const;

export type Fields = Partial<Record<(typeof columns)[number], string | number | boolean | null>>;
