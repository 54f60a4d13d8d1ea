// The mark of attempts that a person started without a check of reference models on their host.
type Started = { skippedChecks?: string[] };

/** Follows an attempt that was started without its check. */
export const uncheckedMark = "△";

/** `started without reference-check[task=…]`; empty if the attempt waited for all its checks, or has none. */
export function uncheckedText({ skippedChecks = [] }: Started): string {
  return skippedChecks.length === 0
    ? ""
    : `started without ${skippedChecks.join(", ")} (--skip-reference-models)`;
}

/** `2 attempts were started without a check of reference models (△).` Empty if there is none. */
export function uncheckedLine(attempts: readonly Started[]): string {
  const { length } = attempts.filter((attempt) => uncheckedText(attempt) !== "");
  if (length === 0) return "";
  const many = length === 1 ? "1 attempt was" : `${length} attempts were`;
  return `${many} started without a check of reference models on the host (${uncheckedMark}).`;
}
