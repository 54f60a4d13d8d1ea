// A score as a share of the distance from the trivial baseline to the reference model, so that tasks with
// different metrics can be averaged. If that distance is small compared with its own error, the share would be
// noise.
import { assertFinite, finite } from "./finite.ts";

export type NormalisedScore = { kind: "normalised"; value: number } | { kind: "absent"; why: NotNormalised };

export type NotNormalised =
  /** The reference model is not better than the trivial baseline. */
  | "reference-not-better"
  /** Reference model − trivial baseline is under five of its standard errors. */
  | "reference-too-near"
  /** The standard error of that difference is unknown. */
  | "error-unknown"
  | "out-of-range";

const standardErrorsMin = 5;

export type Scale = {
  baseline: number;
  reference: number;
  direction: "higher" | "lower";
  /**
   * The standard error of reference − baseline over items, in the metric's unit: the reference's own if the
   * baseline is a constant, that of the paired difference if both are measured on the same items.
   */
  standardError: number | undefined;
};

/**
 * (value − baseline) / (reference − baseline): 0 at the trivial baseline, 1 at the reference model, for either
 * direction; not clipped. Absent if the scale is too uncertain. At five standard errors the scale itself is known to ±40 %
 * (two standard errors), equally for all agents: it ranks them, but its third digit means nothing. Throws on arguments that
 * are not finite.
 */
export function normalisedScore(value: number, scale: Scale): NormalisedScore {
  const { baseline, reference, direction, standardError } = scale;
  assertFinite([value, baseline, reference, standardError ?? 0], "value, baseline, reference or error");
  const way = reference - baseline;
  if (direction === "higher" ? way <= 0 : way >= 0) return { kind: "absent", why: "reference-not-better" };
  if (standardError === undefined) return { kind: "absent", why: "error-unknown" };
  if (standardError < 0) throw new Error(`bug: a standard error of ${standardError}`);
  if (Math.abs(way) < standardErrorsMin * standardError) return { kind: "absent", why: "reference-too-near" };
  const share = finite((value - baseline) / way);
  return share === undefined
    ? { kind: "absent", why: "out-of-range" }
    : { kind: "normalised", value: share === 0 ? 0 : share };
}
