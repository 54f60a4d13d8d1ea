// Scores that are too good to be believed without a look, e.g. because the test was memorised. They are marked; no
// number changes.
import type { Metric } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { ReferenceRow } from "../read/parse-artifacts.ts";

const standardErrorsMin = 5;
const sizesMax = 2;

/**
 * Those of `attempts`, which are valid, that are better than every reference model of at most twice their size by
 * more than five times the sum of both errors over items. A row without a known size is compared with every
 * attempt. Rows that guess, and untrained models, are no reference: without any other row there is no mark.
 */
export function implausibleScores(
  attempts: Attempt[],
  { metric, rows }: { metric: Metric; rows: ReferenceRow[] },
): Cell["implausible"] {
  const sign = metric.direction === "higher" ? 1 : -1;
  return attempts.flatMap((attempt) => {
    const score = attempt.scores[metric.name]!;
    if (score.kind !== "scored" || score.items < 2) return [];
    const size = parametersOf(attempt);
    const distances = rows
      .flatMap((row) => (isReference(row, size) ? [row] : []))
      .map(({ name, value, standardError }) => ({
        row: name,
        standardErrors: distance(sign * (score.value - value), score.standardError + (standardError ?? 0)),
      }));
    const nearest = distances.toSorted((a, b) => a.standardErrors - b.standardErrors)[0];
    if (!nearest || !(nearest.standardErrors > standardErrorsMin)) return [];
    const { row, standardErrors } = nearest;
    const known = Number.isFinite(standardErrors) ? standardErrors : null;
    return [{ seed: attempt.seed, row, standardErrors: known }];
  });
}

/** Infinite where the error is 0. */
function distance(difference: number, error: number): number {
  return difference === 0 ? 0 : difference / error;
}

function isReference(row: ReferenceRow, size: number | null): row is ReferenceRow & { value: number } {
  if (row.value === null || row.kind === "guess" || row.kind === "untrained") return false;
  return row.parameters === null || size === null || row.parameters <= sizesMax * size;
}

function parametersOf({ verdict }: Attempt): number | null {
  const found = verdict.kind === "missing" ? undefined : verdict.facts.parameters;
  return typeof found === "number" ? found : null;
}
