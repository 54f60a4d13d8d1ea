// A mean by benchmark beside the mean over tasks: officially one benchmark decides several tasks (MMLU three of
// seven), so that it has more weight in the mean over tasks. Tasks that one metric decides share a benchmark.
import { mean } from "@mlrb/core/statistics/mean";
import type { Report } from "@mlrb/formats/report";

/** The agent's normalised means at `tasks`, averaged first over the tasks of each of the `n` benchmarks. */
export function meanByBenchmark(
  { cells }: Pick<Report, "cells">,
  { agent, tasks }: { agent: string; tasks: readonly string[] },
): { value: number | null; n: number } {
  const own = cells.filter((cell) => cell.primary && cell.agent === agent && tasks.includes(cell.task));
  const means = [...Map.groupBy(own, ({ metric }) => metric).values()].map((same) =>
    mean(same.flatMap(({ normalisedMean }) => normalisedMean ?? [])),
  );
  const known = means.filter((each) => each !== undefined);
  return { value: mean(known) ?? null, n: known.length };
}
