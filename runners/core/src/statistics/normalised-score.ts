// A score as a share of the distance from the trivial baseline to the reference model, so that tasks with different metrics
// can be averaged. If that distance is small compared with its own error, the share would be noise.
import { assertFinite, finite } from "./finite.ts";

export type NormalisedScore = { kind: "normalised"; value: number } | { kind: "absent"; why: NotNormalised };

export type NotNormalised =
  /** The reference model is not better than the trivial baseline. */
  | "anchor-not-better"
  /** Reference model − trivial baseline is under five of its standard errors. */
  | "anchor-too-near"
  /** The standard error of that difference is unknown. */
  | "error-unknown"
  | "out-of-range";

const standardErrorsMin = 5;

export type Scale = {
  floor: number;
  anchor: number;
  direction: "higher" | "lower";
  /**
   * The standard error of anchor − floor over items, in the metric's unit: the anchor's own if the floor is a constant, that
   * of the paired difference if both are measured on the same items.
   */
  standardError: number | undefined;
};

/**
 * (value − floor) / (anchor − floor): 0 at the trivial baseline (floor), 1 at the reference model (anchor), for either
 * direction; not clipped. Absent if the scale is too uncertain. At five standard errors the scale itself is known to ±40 %
 * (two standard errors), equally for all agents: it ranks them, but its third digit means nothing. Throws on arguments that
 * are not finite.
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
