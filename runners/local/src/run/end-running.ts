// Ends an instance because its run was interrupted. An attempt with a supervisor is left running instead.
import type { Running } from "@mlrb/core/ports/executor";

export function askToEnd(handle: Running | undefined): void {
  if (handle?.leave) handle.leave();
  else handle?.askToEnd();
}

export function kill(handle: Running | undefined): void {
  if (handle?.leave) handle.leave();
  else handle?.kill();
}
