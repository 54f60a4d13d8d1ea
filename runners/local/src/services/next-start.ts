// Decides whether a service whose server has ended is started again.
// Pure.

export type Starts = {
  restarts: number;
  /** Whether one of its servers has answered. */
  served: boolean;
};

/** `served`: the server that ended had answered. `over`: too many starts, or else the first end is final. */
export function nextStart(
  before: Starts,
  { served }: { served: boolean },
  restartsMax: number,
): { kind: "again"; starts: Starts } | { kind: "failed"; over: boolean } {
  const starts = { restarts: before.restarts + 1, served: before.served || served };
  // one that never answered would not answer the next time
  if (!starts.served) return { kind: "failed", over: false };
  return starts.restarts > restartsMax ? { kind: "failed", over: true } : { kind: "again", starts };
}
