// Trivial baselines and reference models as rows, and how each agent's mean compares with them. They show when a
// trained model is worse than a table of word pairs.

import type { Reading } from "@mlrb/formats/read-format";
import type { Metric } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Row, RowValue, Standing } from "@mlrb/formats/report/row";
import { byText } from "../read/order.ts";
import type { ReferenceRow } from "../read/parse-artifacts.ts";
import { digitsText } from "../sections/digits-text.ts";
import type { Baseline, Reference } from "./baseline-of.ts";

/** Rows of one task and metric, best first, rejected ones last. `cells` are those of the same task and metric. */
export function rows(
  cells: Cell[],
  of: {
    task: string;
    metric: Metric;
    references: Reading<ReferenceRow[]>;
    baseline: Baseline;
    reference: Reference;
  },
): Row[] {
  const { task, metric, references, baseline, reference } = of;
  const given = references.kind === "ok" ? references.value : [];
  const all = given.map((row) => ({
    ...row,
    baseline: row.name === baseline.name,
    reference: row.name === reference.name,
  }));
  if (baseline.kind === "known" && baseline.name === null) {
    const title = "the trivial baseline that task.yaml declares";
    const { value } = baseline;
    all.push({
      name: "baseline",
      title,
      kind: "guess",
      parameters: null,
      value,
      standardError: null,
      rejected: null,
      baseline: true,
      reference: false,
    });
  }
  const order = (a: RowValue, b: RowValue) => {
    if (a.rejected !== null || b.rejected !== null)
      return Number(a.rejected !== null) - Number(b.rejected !== null);
    return metric.direction === "higher" ? b.value - a.value : a.value - b.value;
  };
  return all
    .sort((a, b) => order(a, b) || byText(a.name, b.name))
    .map((row) => ({
      task,
      metric: metric.name,
      ...row,
      standings: cells.map((cell) => standing(cell, row.value, metric)),
    }));
}

/** `level` where the table's digits show no difference; for bytes, which tables print in a larger unit, exactly equal ones. */
function standing(cell: Cell, value: number | null, metric: Metric): Standing {
  const { agent, mean } = cell;
  if (mean === null || value === null) return { agent, kind: "unknown" };
  const shown = (number: number) => (metric.unit === "bytes" ? number : digitsText(number, metric.digits));
  if (shown(mean) === shown(value)) return { agent, kind: "level" };
  const better = metric.direction === "higher" ? mean > value : mean < value;
  const by = Math.abs(mean - value);
  return Number.isFinite(by) ? { agent, kind: better ? "better" : "worse", by } : { agent, kind: "unknown" };
}
