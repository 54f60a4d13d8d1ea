// A value worse than the trivial baseline counts as the trivial baseline in every aggregate, so that one absurd
// value cannot dominate a mean, and submitting nothing is never better than submitting a bad model.

/** `value`, or `baseline` where that is better. Without a known baseline, `value`. */
export function atLeastBaseline(
  value: number,
  { baseline, direction }: { baseline: number | undefined; direction: "higher" | "lower" },
): number {
  if (baseline === undefined) return value;
  return direction === "higher" ? Math.max(value, baseline) : Math.min(value, baseline);
}
