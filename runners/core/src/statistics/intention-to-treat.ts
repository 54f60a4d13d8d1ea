// An agent's result at a task over all its attempts. Attempts that the agent failed count as the trivial baseline,
// since dropping them would raise the mean. Attempts that failed through our fault are missing; with many missing,
// the rest is not a fair sample and gets no interval.

import { atLeastBaseline } from "./at-least-baseline.ts";
import { type AttemptsInterval, attemptsInterval, type NoInterval } from "./attempts-interval.ts";
import { assertFinite } from "./finite.ts";
import { mean } from "./mean.ts";
import type { Interval } from "./mean-interval.ts";
import { wilsonInterval } from "./wilson-interval.ts";

export type AttemptResult =
  | { kind: "valid"; value: number }
  /** By the agent's fault: counts as the trivial baseline. */
  | { kind: "failed"; because: AttemptFailure }
  /** By our fault (data, machine, provider, library): neither a value nor the trivial baseline. */
  | { kind: "missing" };

export const attemptFailures = ["no-submission", "malformed", "rejected", "disqualified"] as const;
type AttemptFailure = (typeof attemptFailures)[number];

export type IntentionToTreat = {
  planned: number;
  /** Valid plus failed attempts; the coverage is measured / planned. */
  measured: number;
  failed: Record<AttemptFailure, number>;
  /** The value with which each attempt enters all aggregates, in the given order; null for a missing one. */
  counted: (number | null)[];
  /** It has no t interval: such an interval covers 67 to 71 % if one attempt in five fails. */
  mean:
    | { kind: "mean"; value: number }
    | { kind: "none"; why: "nothing-measured" | "baseline-unknown" | "out-of-range" };
  /** Wilson's 95 % interval of valid / measured; undefined where attempts are no independent trials. */
  passed: Interval | undefined;
  /** The valid attempts only, as counted. All of it is conditional on being valid, and the mean flatters. */
  valid: { n: number; mean: number | undefined; interval: ValidInterval };
};

type ValidInterval =
  | Exclude<AttemptsInterval, { kind: "none" }>
  | { kind: "none"; why: NoInterval | "too-many-missing" | "repeated" };

/** With more than one missing attempt in five there is no interval and no test. */
const plannedPerMissingMin = 5;

export function tooManyMissing({ planned, measured }: { planned: number; measured: number }): boolean {
  return plannedPerMissingMin * (planned - measured) > planned;
}

/**
 * All planned attempts of one agent at one task, in the metric's unit. `baseline` is the trivial baseline, at
 * which failed attempts and valid ones below it count. If it is undefined and an attempt failed, there is no mean.
 * `range` is the metric's minimum and maximum, see attemptsInterval. `repeated`: some attempts are repeats of one
 * observation, so there is no interval. Throws on values that are not finite, or that count and are not in
 * `range`.
 */
export function intentionToTreat(
  attempts: readonly AttemptResult[],
  given: {
    baseline: number | undefined;
    direction: "higher" | "lower";
    range?: Interval;
    repeated?: boolean;
  },
): IntentionToTreat {
  const { baseline, range, repeated = false } = given;
  if (baseline !== undefined) assertFinite([baseline], "baseline");
  const counted = attempts.map((attempt) => {
    if (attempt.kind === "valid") return atLeastBaseline(attempt.value, given);
    return attempt.kind === "failed" && baseline !== undefined ? baseline : null;
  });
  const valid = counted.filter(
    (value, index): value is number => value !== null && attempts[index]!.kind === "valid",
  );
  const planned = attempts.length;
  const measured = attempts.filter(({ kind }) => kind !== "missing").length;
  const withheld = repeated ? "repeated" : tooManyMissing({ planned, measured }) ? "too-many-missing" : null;
  return {
    planned,
    measured,
    failed: failures(attempts),
    counted,
    mean: centre(counted, measured),
    passed: withheld ? undefined : wilsonInterval(valid.length, measured),
    valid: {
      n: valid.length,
      mean: mean(valid),
      interval:
        withheld && valid.length > 0 ? { kind: "none", why: withheld } : attemptsInterval(valid, range),
    },
  };
}

function centre(counted: (number | null)[], measured: number): IntentionToTreat["mean"] {
  const values = counted.filter((value) => value !== null);
  if (measured === 0) return { kind: "none", why: "nothing-measured" };
  if (values.length < measured) return { kind: "none", why: "baseline-unknown" };
  const value = mean(values);
  return value === undefined ? { kind: "none", why: "out-of-range" } : { kind: "mean", value };
}

function failures(attempts: readonly AttemptResult[]): Record<AttemptFailure, number> {
  return Object.fromEntries(
    attemptFailures.map((because) => [
      because,
      attempts.filter((each) => each.kind === "failed" && each.because === because).length,
    ]),
  ) as Record<AttemptFailure, number>;
}
