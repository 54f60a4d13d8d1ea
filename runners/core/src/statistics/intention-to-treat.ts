// An agent's result at a task over all its attempts. Attempts that the agent failed count as the trivial baseline, since
// dropping them would raise the mean. Attempts that failed through our fault are missing; with many missing, the rest is
// not a fair sample and gets no interval.
import { type AttemptsInterval, attemptsInterval, type NoInterval } from "./attempts-interval.ts";
import { assertFinite } from "./finite.ts";
import { mean } from "./mean.ts";
import type { Interval } from "./mean-interval.ts";

export type AttemptResult =
  | { kind: "valid"; value: number }
  /** By the agent's fault: counts as the trivial baseline. */
  | { kind: "failed"; because: AttemptFailure }
  /** By our fault (data, machine, provider, library): neither a value nor the trivial baseline. */
  | { kind: "missing" };

export const attemptFailures = ["no-submission", "malformed", "rejected", "struck"] as const;
type AttemptFailure = (typeof attemptFailures)[number];

export type IntentionToTreat = {
  planned: number;
  /** Valid plus failed attempts; the coverage is measured / planned. */
  measured: number;
  failed: Record<AttemptFailure, number>;
  /** The value with which each attempt enters the mean, in the given order; null for a missing one. */
  counted: (number | null)[];
  mean:
    | { kind: "mean"; value: number }
    | { kind: "none"; why: "nothing-measured" | "floor-unknown" | "out-of-range" };
  interval: Exclude<AttemptsInterval, { kind: "none" }> | { kind: "none"; why: NoInterval | Withheld };
  /** The valid attempts only. Their mean flatters; it compares with published means over valid runs. */
  valid: { n: number; mean: number | undefined };
};

/** Why there is no interval, besides the reasons that the values give. */
type Withheld = "no-mean" | "too-many-missing" | "all-failed";

/** With more than one missing attempt in five there is no interval. */
const plannedPerMissingMin = 5;

/**
 * Mean and 95 % Student-t interval over all planned attempts of one agent at one task, in the metric's unit.
 * `floor` is the trivial baseline, at which failed attempts count. If it is undefined and an attempt failed, there is no
 * mean. `range` is the metric's minimum and maximum, see attemptsInterval. A valid value below the trivial baseline is
 * kept. Throws on values that are not finite or not in `range`.
 */
export function intentionToTreat(
  attempts: readonly AttemptResult[],
  { floor, range }: { floor: number | undefined; range?: Interval },
): IntentionToTreat {
  if (floor !== undefined) assertFinite([floor], "floor");
  const counted = attempts.map((attempt) => {
    if (attempt.kind === "valid") return attempt.value;
    return attempt.kind === "failed" && floor !== undefined ? floor : null;
  });
  const values = counted.filter((value) => value !== null);
  const valid = attempts.flatMap((attempt) => (attempt.kind === "valid" ? [attempt.value] : []));
  const failed = Object.fromEntries(
    attemptFailures.map((because) => [
      because,
      attempts.filter((each) => each.kind === "failed" && each.because === because).length,
    ]),
  ) as Record<AttemptFailure, number>;
  const missing = attempts.filter(({ kind }) => kind === "missing").length;
  const planned = attempts.length;
  const measured = planned - missing;

  const centre = centreOf();
  return {
    planned,
    measured,
    failed,
    counted,
    mean: centre,
    interval: intervalOf(),
    valid: { n: valid.length, mean: mean(valid) },
  };

  function centreOf(): IntentionToTreat["mean"] {
    if (measured === 0) return { kind: "none", why: "nothing-measured" };
    if (values.length < measured) return { kind: "none", why: "floor-unknown" };
    const value = mean(values);
    return value === undefined ? { kind: "none", why: "out-of-range" } : { kind: "mean", value };
  }

  function intervalOf(): IntentionToTreat["interval"] {
    if (centre.kind === "none") return { kind: "none", why: "no-mean" };
    if (plannedPerMissingMin * missing > planned) return { kind: "none", why: "too-many-missing" };
    if (valid.length === 0) return { kind: "none", why: "all-failed" };
    return attemptsInterval(values, range);
  }
}
