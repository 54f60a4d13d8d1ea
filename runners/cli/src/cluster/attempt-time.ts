// The time for which an attempt asks a cluster.
import type { Instance } from "@mlrb/core/plan/plan";

/** Besides the budget: to begin, to seal, to copy the submission, and to wait for a provider. */
export function besideMs(budgetMs: number): number {
  return Math.max(600_000, budgetMs / 20);
}

/** Undefined for a stage without a budget of time. */
export function attemptMs({ action, execution }: Pick<Instance, "action" | "execution">): number | undefined {
  const { timeMs } = action.budget;
  if (timeMs === undefined) return undefined;
  return Math.min(execution.limits.timeMs ?? Number.POSITIVE_INFINITY, timeMs + besideMs(timeMs));
}
