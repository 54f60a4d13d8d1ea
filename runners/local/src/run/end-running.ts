// Ends an instance because its run was interrupted. An attempt that has a supervisor is left to it instead.
import type { Running } from "@mlrb/core/ports/executor";

export function askToEnd(handle: Running | undefined): void {
  if (handle?.leave) handle.leave();
  else handle?.askToEnd();
}

export function kill(handle: Running | undefined): void {
  if (handle?.leave) handle.leave();
  else handle?.kill();
}
