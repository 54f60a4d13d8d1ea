// Counts of an attempt's research. Formulas: docs/measures.md.
import type { IterationRecord, ResearchMeasures } from "@mlrb/formats/attempt/iterations";
import type { AttemptFacts } from "./attempt-facts.ts";

type OfSnapshots = Pick<ResearchMeasures, "firstValidMs" | "firstValidBy" | "distinctValid">;

/** `ofSnapshots` comes from the supervisor's snapshots. */
export function researchMeasures(
  iterations: IterationRecord[],
  ofSnapshots: OfSnapshots,
  { runs, limits }: Pick<AttemptFacts, "runs" | "limits">,
): ResearchMeasures {
  const counted = iterations.filter(({ counts }) => counts);
  const metric = commonMetric(counted);
  const values = counted
    .filter((one) => one.metric?.value != null && metric !== null && sameMetric(one.metric, metric))
    .map(({ metric: own, sinceStartMs, predicted }) => ({ value: own!.value!, sinceStartMs, predicted }));
  const errors = values.flatMap(({ value, predicted }) =>
    predicted === null ? [] : [Math.abs(predicted - value)],
  );
  return {
    ...ofSnapshots,
    runs: { ...runs },
    limits: [...limits].sort(),
    executedIterations: counted.length,
    metric,
    values,
    predictionError:
      errors.length === 0 ? null : errors.reduce((sum, error) => sum + error, 0) / errors.length,
    predictions: errors.length,
  };
}

type Named = { name: string; split: string | null };

function sameMetric(a: Named, b: Named): boolean {
  return a.name === b.name && a.split === b.split;
}

/** The metric with the most values; the earlier one of two with equally many. */
function commonMetric(iterations: IterationRecord[]): Named | null {
  const counts = new Map<string, { named: Named; count: number }>();
  for (const { metric } of iterations) {
    if (metric?.value == null) continue;
    const named = { name: metric.name, split: metric.split };
    const key = JSON.stringify([named.name, named.split]);
    counts.getOrInsert(key, { named, count: 0 }).count++;
  }
  let most: { named: Named; count: number } | undefined;
  for (const each of counts.values()) if (most === undefined || each.count > most.count) most = each;
  return most?.named ?? null;
}
