// Decides whether a service whose server has ended is started again.
// Pure.
import type { FailureCause } from "@mlrb/formats/stage/outcome";

export type Starts = {
  /** Ends of its own so far. */
  restarts: number;
  /** Ends by the cluster in a row without an answer in between. */
  losses: number;
  /** Whether one of its servers has answered. */
  served: boolean;
};

/** How a server ended. `lost`: the cluster ended it, without its own fault. `served`: it had answered. */
type End = { cause: FailureCause; lost: boolean; served: boolean };

/**
 * `retries`: how often the executor tries again after failures of the machine. What a cluster does to a service that
 * answers is not limited: the service may be used for days. `over`: too many starts, or undefined where the first end is
 * final.
 */
export function nextStart(
  before: Starts,
  { cause, lost, served }: End,
  { restartsMax, retries }: { restartsMax: number; retries: number },
): { kind: "again"; starts: Starts; pauseMs: number } | { kind: "failed"; over: boolean } {
  const isLost = lost && retries > 0;
  const starts = {
    restarts: before.restarts + (isLost ? 0 : 1),
    losses: isLost ? 1 + (served ? 0 : before.losses) : 0,
    served: before.served || served,
  };
  // one that never answered would not answer the next time, and a person who cancels its job does not want it
  if (cause === "operator" || (!isLost && !starts.served)) return { kind: "failed", over: false };
  if (starts.restarts > restartsMax || starts.losses > retries) return { kind: "failed", over: true };
  return { kind: "again", starts, pauseMs: isLost ? 1000 * 2 ** (starts.losses - 1) : 0 };
}
