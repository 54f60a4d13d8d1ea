// One number for a task, an agent and a metric, by intention to treat. An attempt that the agent made fail is scored at
// the trivial baseline, so that dropping failures cannot raise a mean. An attempt that the harness made fail is
// missing; too many missing attempts leave no interval.

import { type IntentionToTreat, intentionToTreat } from "@mlrb/core/statistics/intention-to-treat";
import type { Items } from "@mlrb/core/statistics/items";
import type { Interval } from "@mlrb/core/statistics/mean-interval";
import { normalisedScore } from "@mlrb/core/statistics/normalised-score";
import type { Reading } from "@mlrb/formats/read-format";
import type { Metric } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { AnchorRow } from "../read/parse-artifacts.ts";
import { cellErrors } from "./cell-errors.ts";
import { cellNotes } from "./cell-notes.ts";
import { type Counting, counting } from "./counting.ts";
import { equalSubmissions, repeatedAttempts } from "./equal-submissions.ts";
import type { Anchor, Floor } from "./floor-of.ts";
import { implausibleScores } from "./implausible-scores.ts";
import type { MetricScale } from "./metric-scale.ts";

/** An attempt of a cell, and the items of its score if the samples can be read. */
export type CellAttempt = { attempt: Attempt; items: Reading<Items> };

type CellOf = {
  metric: Metric;
  primary: boolean;
  floor: Floor;
  anchor: Anchor;
  scale: MetricScale;
  rows: AnchorRow[];
  /** Whether the agent's only randomness is the seed. */
  seeded: boolean;
};

/** The cell of `members`: all planned attempts of one task and agent, in order of their seeds. */
export function cell(members: CellAttempt[], from: CellOf): Cell {
  const { metric, primary, floor, anchor, scale } = from;
  const attempts = members.map(({ attempt }) => attempt);
  const { task, agent } = attempts[0]!;
  const ways = attempts.map((attempt) => counting(attempt, metric.name));
  const known = floor.kind === "known" ? floor.value : undefined;
  const { direction } = metric;
  const repeats = repeatedAttempts(
    attempts.filter((_, index) => ways[index]!.kind !== "missing"),
    from.seeded,
  );
  const range = intervalRange(metric, ways, known);
  const found = intentionToTreat(ways, { floor: known, direction, range, repeated: repeats.length > 0 });
  const { counted, failed } = found;
  const mean = found.mean.kind === "mean" ? found.mean.value : null;
  const valid = members.filter((_, index) => ways[index]!.kind === "valid");
  const implausible = implausibleScores(
    valid.map(({ attempt }) => attempt),
    from,
  );
  const below = ways.map((way, index) => way.kind === "valid" && way.value !== counted[index]);
  return {
    task,
    agent,
    metric: metric.name,
    primary,
    direction,
    unit: metric.unit,
    seeds: attempts.map((attempt) => attempt.seed),
    values: attempts.map(({ scores }) => {
      const score = scores[metric.name]!;
      return score.kind === "scored" ? score.value : null;
    }),
    counted,
    mean,
    meanWithheld: found.mean.kind === "mean" ? null : found.mean.why,
    measured: found.measured,
    planned: found.planned,
    struck: failed.struck,
    rejected: failed.rejected,
    undecided: attempts.filter(
      ({ verdict }, index) => verdict.kind === "undecided" && ways[index]!.kind === "valid",
    ).length,
    ...validFields(found),
    belowFloor: below.filter((each) => each).length,
    identical: equalSubmissions(valid.map(({ attempt }) => attempt)).map(({ length }) => length),
    observations: repeats.reduce((sum, { length }) => sum - length + 1, found.measured),
    implausible,
    errors: cellErrors(
      members.flatMap((member, index) =>
        ways[index]!.kind === "valid" ? [{ ...member, counted: counted[index]!, below: below[index]! }] : [],
      ),
      metric.name,
    ),
    floor: known ?? null,
    floorName: floor.kind === "known" ? floor.name : null,
    anchor: anchor.kind === "known" ? anchor.value : null,
    anchorName: anchor.name,
    anchorKind: anchor.kind === "known" ? anchor.of : null,
    ...normalisedValues({ counted, mean }, scale),
    notes: cellNotes(attempts, { metric, primary, found, ways, floor, repeats, implausible }),
  };
}

function validFields({ passed, valid }: IntentionToTreat) {
  const { interval } = valid;
  const held = interval.kind === "interval";
  return {
    passInterval: passed ?? null,
    validMean: valid.mean ?? null,
    validN: valid.n,
    validInterval: held ? ([interval.low, interval.high] as [number, number]) : null,
    validIntervalCut: held ? interval.cut : null,
    validIntervalWithheld: held ? null : interval.why,
  };
}

/** The metric's range, widened to values that rounding put outside, because an interval includes its own values. */
function intervalRange({ range }: Metric, ways: Counting[], floor: number | undefined): Interval {
  const [least, most] = range ?? [Number.NEGATIVE_INFINITY, null];
  const values = ways.flatMap((way) => (way.kind === "valid" ? [way.value] : (floor ?? [])));
  return [Math.min(least, ...values), Math.max(most ?? Number.POSITIVE_INFINITY, ...values)];
}

/** On the scale from the trivial baseline to the reference model. Nulls in `counted` and `mean` stay null. */
function normalisedValues(
  { counted, mean }: { counted: (number | null)[]; mean: number | null },
  found: MetricScale,
) {
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
