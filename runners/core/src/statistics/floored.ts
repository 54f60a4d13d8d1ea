// A value worse than the trivial baseline counts as the trivial baseline in every aggregate, so that one absurd value
// cannot dominate a mean, and submitting nothing is never better than submitting a bad model.

/** `value`, or `floor` where that is better. Without a known floor, `value`. */
export function floored(
  value: number,
  { floor, direction }: { floor: number | undefined; direction: "higher" | "lower" },
): number {
  if (floor === undefined) return value;
  return direction === "higher" ? Math.max(value, floor) : Math.min(value, floor);
}
