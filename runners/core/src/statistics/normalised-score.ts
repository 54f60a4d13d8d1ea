// A score as the share of the way from doing nothing useful to a known model, so that tasks with different
// metrics can be averaged. Where that way is short against its own error, the share would be noise.
import { assertFinite, finite } from "./finite.ts";

export type NormalisedScore = { kind: "normalised"; value: number } | { kind: "absent"; why: NotNormalised };

export type NotNormalised =
  /** The anchor is no better than the floor, in the metric's direction. */
  | "anchor-not-better"
  /** anchor − floor is under five of its standard errors. */
  | "anchor-too-near"
  /** How far floor and anchor can be told apart is not known. */
  | "error-unknown"
  | "out-of-range";

const standardErrorsMin = 5;

export type Scale = {
  floor: number;
  anchor: number;
  direction: "higher" | "lower";
  /**
   * The standard error of anchor − floor over items, in the metric's unit: the anchor's own where the floor
   * is a constant, that of the paired difference where both are measured on the same items.
   */
  standardError: number | undefined;
};

/**
 * (value − floor) / (anchor − floor): 0 at the floor, 1 at the anchor, whichever direction is better; not
 * clipped. Absent on a scale that cannot carry it. At five standard errors the scale itself is known to about
 * ±40 % (two standard errors), alike for all agents: good for telling them apart, not for its third digit.
 * Throws on arguments that are not finite.
 */
export function normalisedScore(value: number, scale: Scale): NormalisedScore {
  const { floor, anchor, direction, standardError } = scale;
  assertFinite([value, floor, anchor, standardError ?? 0], "value, floor, anchor or error");
  const way = anchor - floor;
  if (direction === "higher" ? way <= 0 : way >= 0) return { kind: "absent", why: "anchor-not-better" };
  if (standardError === undefined) return { kind: "absent", why: "error-unknown" };
  if (standardError < 0) throw new Error(`bug: a standard error of ${standardError}`);
  if (Math.abs(way) < standardErrorsMin * standardError) return { kind: "absent", why: "anchor-too-near" };
  const share = finite((value - floor) / way);
  return share === undefined
    ? { kind: "absent", why: "out-of-range" }
    : { kind: "normalised", value: share === 0 ? 0 : share };
}
