// A cell on its metric's scale from the trivial baseline to the reference model.
import { normalisedScore } from "@mlrb/core/statistics/normalised-score";
import type { Cell } from "@mlrb/formats/report/cell";
import type { MetricScale } from "./metric-scale.ts";

type Normalised = Pick<Cell, "normalised" | "normalisedMean" | "normalisedWithheld">;

/** Nulls in `counted` and `mean` stay null. */
export function normalisedValues(
  { counted, mean }: { counted: (number | null)[]; mean: number | null },
  found: MetricScale,
): Normalised {
  const share = (value: number | null) => {
    if (value === null || found.kind === "none") return null;
    const normalised = normalisedScore(value, found.scale);
    return normalised.kind === "normalised" ? normalised.value : null;
  };
  return {
    normalised: counted.map(share),
    normalisedMean: share(mean),
    normalisedWithheld: found.kind === "none" ? found.why : null,
  };
}
