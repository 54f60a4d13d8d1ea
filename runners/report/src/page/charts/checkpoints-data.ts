// The data of a task's figure over the budget: every attempt's score at its checkpoints, and each agent's mean
// over its seeds. Failed checkpoints are scored at the trivial baseline. Pure.

import { atLeastBaseline } from "@mlrb/core/statistics/at-least-baseline";
import type { Direction } from "@mlrb/formats/judged/score";
import type { Report } from "@mlrb/formats/report";
import type { Seed } from "@mlrb/formats/report/attempt";
import { changedOverTime, checkpointCounting } from "../../compare/checkpoint-counting.ts";
import { scoreError, supportedText } from "../../sections/digits-text.ts";
import { baselineText } from "../../sections/report-words.ts";
import { inShownUnit, metricOf } from "../../units/shown-metric.ts";

export type CheckpointsData = NonNullable<ReturnType<typeof checkpointsData>>;

/** `counts`: a score. `failed`: scored at the trivial baseline; `words` hold the reason. */
export type CheckpointPoint = {
  agent: string;
  seed: Seed;
  share: number;
  value: number;
  kind: "counts" | "failed";
  words: string;
};

/** Undefined where no attempt's submission changed over time, or no point can be drawn. */
export function checkpointsData(report: Report, task: string) {
  const attempts = report.attempts.filter((attempt) => attempt.task === task);
  const primary = report.tasks.find(({ name }) => name === task)?.primary ?? null;
  if (primary === null || !attempts.some(changedOverTime)) return undefined;
  const about = metricOf(report, primary);
  const { name: metric, digits, direction, unit } = about;
  const first = report.cells.find((cell) => cell.task === task && cell.primary);
  const baseline = first?.baseline ?? null;
  const points: CheckpointPoint[] = [];
  /** One for each agent and checkpoint with a known score. */
  const means: { agent: string; share: number; mean: number; of: number }[] = [];
  const shares = attempts[0]!.checkpoints.map(({ share, checkpoint }) => ({ share, checkpoint }));
  for (const [agent, own] of Map.groupBy(attempts, (attempt) => attempt.agent)) {
    for (const [at, { share }] of shares.entries()) {
      const ways = own.map((attempt) => ({
        seed: attempt.seed,
        way: checkpointCounting(attempt, attempt.checkpoints[at]!, metric),
        error: scoreError((share === 1 ? attempt : attempt.checkpoints[at]!).scores[metric]),
      }));
      const known = ways.flatMap(({ seed, way, error }): CheckpointPoint[] => {
        const point = { agent, seed, share };
        if (way.kind === "valid") {
          const words = supportedText(way.value, digits, error);
          return [{ ...point, ...validCheckpoint(way.value, { baseline, direction, words }) }];
        }
        if (way.kind === "missing" || baseline === null) return [];
        return [{ ...point, value: baseline, kind: "failed", words: failedWords[way.because] }];
      });
      points.push(...known);
      // a failure without a known baseline leaves no mean
      const counted = ways.filter(({ way }) => way.kind !== "missing").length;
      if (known.length === 0 || known.length < counted) continue;
      const mean = known.reduce((sum, { value }) => sum + value, 0) / known.length;
      means.push({ agent, share, mean, of: known.length });
    }
  }
  if (points.length === 0) return undefined;
  const words = first ? baselineText(first, about, report.rows) : "unknown";
  const shown = (value: number) => inShownUnit(value, about);
  return {
    ...{ task, metric, unit, direction, shares, baselineText: words }, // with the digits that its error supports
    baseline: baseline === null ? null : shown(baseline),
    points: points.map((point) => ({ ...point, value: shown(point.value) })),
    means: means.map((each) => ({ ...each, mean: shown(each.mean) })),
  };
}

/** A score worse than the trivial baseline counts as the baseline, and would stretch the axis. */
function validCheckpoint(
  value: number,
  { baseline, direction, words }: { baseline: number | null; direction: Direction; words: string },
): Pick<CheckpointPoint, "value" | "kind" | "words"> {
  const counted = atLeastBaseline(value, { baseline: baseline ?? undefined, direction });
  if (counted === value) return { value, kind: "counts", words };
  return {
    value: counted,
    kind: "failed",
    words: `${words}, worse than the trivial baseline and counted as it`,
  };
}

const failedWords = {
  none: "no submission yet, scored at the trivial baseline",
  rejected: "rejected, scored at the trivial baseline",
  disqualified: "disqualified, scored at the trivial baseline",
};

/** The figure in words, for readers who do not see it. */
export function checkpointsWords(data: CheckpointsData): string {
  const { baseline, shares, points } = data;
  const agents = [...Map.groupBy(points, ({ agent }) => agent)].map(([agent, own]) => {
    const at = shares.flatMap(({ share, checkpoint }) => {
      const then = own.filter((point) => point.share === share);
      return then.length === 0
        ? []
        : [`at ${checkpoint} ${then.map(({ seed, words }) => `seed ${seed} ${words}`).join(", ")}`];
    });
    return `${agent}: ${at.join("; ")}`;
  });
  return [
    `${data.metric} in ${data.unit} over the budget, ${data.direction} is better`,
    ...agents,
    ...(baseline === null ? [] : [`trivial baseline ${data.baselineText}`]),
  ].join(". ");
}
