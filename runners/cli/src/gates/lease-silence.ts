// MLRB_LEASE_SILENCE: how long another host's run may send no heartbeat before it counts as silent. For file
// servers that hide changes longer than the default, and for tests that must not wait.
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { parseDuration } from "@mlrb/kit/parse-duration";

/** Milliseconds; undefined if not set. */
export function leaseSilence(text = process.env.MLRB_LEASE_SILENCE): number | undefined | Diagnostic {
  if (text === undefined || text === "") return undefined;
  const silentMs = parseDuration(text);
  if (silentMs !== undefined && silentMs > 0) return silentMs;
  const help = "write a number and a unit, e.g. MLRB_LEASE_SILENCE=90s; the default is 60s";
  return { code: "bad-silence", message: `MLRB_LEASE_SILENCE=${text} is not a duration`, help };
}
