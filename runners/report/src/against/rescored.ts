// "rescored 4 of 60 scores: bits-per-byte mean −0.012": new numbers for the same files, in one line.
import { mean } from "@mlrb/core/statistics/mean";
import { differenceWords } from "./change-words.ts";
import { isRescored, isScoredTwice, metricOfEither, type ScoreChange, type Sides } from "./score-change.ts";

export type Rescored = NonNullable<ReturnType<typeof rescored>>;

/** Metrics named in the line; the others are counted. */
const namedMax = 2;

/**
 * Undefined if no score changed. `of`: scores of files that both reports have. `means`: new minus old, averaged
 * over the rescored ones with two values; null without any; in the metric's unit.
 */
export function rescored(scores: ScoreChange[], sides: Sides) {
  const changed = scores.filter(isRescored);
  if (changed.length === 0) return undefined;
  const of = scores.filter(isScoredTwice).length;
  const means = [...Map.groupBy(changed, ({ metric }) => metric)].map(([metric, own]) => ({
    metric,
    scores: own.length,
    mean: mean(own.flatMap(differenceOf)) ?? null,
  }));
  const words = means
    .slice(0, namedMax)
    .map(({ metric, mean }) =>
      mean === null
        ? `${metric} without two values`
        : `${metric} mean ${differenceWords(mean, metricOfEither(sides, metric))}`,
    );
  const more = means.length > namedMax ? [`${means.length - namedMax} more metrics`] : [];
  const text = `rescored ${changed.length} of ${of} scores: ${[...words, ...more].join(", ")}`;
  return { rescored: changed.length, of, means, text };
}

function differenceOf({ old, now }: ScoreChange): number[] {
  const [was, is] = [old?.value ?? null, now?.value ?? null];
  return was === null || is === null ? [] : [is - was];
}
