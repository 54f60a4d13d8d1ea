// Ends an instance because its run was interrupted. An attempt with a supervisor is left running instead.
import type { Running } from "@mlrb/core/ports/executor";

export function endRunning(handle: Running | undefined, how: "askToEnd" | "kill"): void {
  if (handle?.leave) handle.leave();
  else handle?.[how]();
}
