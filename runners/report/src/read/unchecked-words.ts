// The mark of attempts that started without a check of reference models on their host: a person left the check out, or no
// task of their run declares anything to check.
type Started = { skippedChecks?: string[]; undeclaredChecks?: string[] };

/** Follows an attempt that was started without its check. */
export const uncheckedMark = "△";

/** `started without reference-check[task=…]` and why; empty if the attempt waited for a check, or its data needs none. */
export function uncheckedText({ skippedChecks = [], undeclaredChecks = [] }: Started): string {
  if (skippedChecks.length > 0)
    return `started without ${skippedChecks.join(", ")} (--skip-reference-models)`;
  if (undeclaredChecks.length > 0)
    return `started without ${undeclaredChecks.join(", ")} (no reference model is declared)`;
  return "";
}

/** `2 attempts were started without a check of reference models (△).` Empty if there is none. */
export function uncheckedLine(attempts: readonly Started[]): string {
  const { length } = attempts.filter((attempt) => uncheckedText(attempt) !== "");
  if (length === 0) return "";
  const many = length === 1 ? "1 attempt was" : `${length} attempts were`;
  return `${many} started without a check of reference models on the host (${uncheckedMark}).`;
}
