// What happens to stale attempts: by the command line, else by the profile.
import type { Plan } from "@mlrb/core/plan/plan";
import type { StalePolicy } from "@mlrb/local/run/run-request";

export type StaleOptions = { rerun?: boolean; acceptStale?: string };

export function stalePolicy(plan: Plan, { rerun, acceptStale }: StaleOptions): StalePolicy {
  if (acceptStale !== undefined) return { kind: "accept", why: acceptStale };
  return { kind: rerun ? "rerun" : plan.onStale };
}
