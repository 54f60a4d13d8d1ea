// After how long without a heartbeat another host's run is taken for silent, where somebody knows better
// than the program: a file server that hides changes for longer, a test that will not wait.
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import { parseDuration } from "@mlrb/kit/parse-duration";

/** Milliseconds; undefined where nothing is said. */
export function leaseSilence(text = process.env.MLRB_LEASE_SILENCE): number | undefined | Diagnostic {
  if (text === undefined || text === "") return undefined;
  const silentMs = parseDuration(text);
  if (silentMs !== undefined && silentMs > 0) return silentMs;
  const help = "write a number and a unit, e.g. MLRB_LEASE_SILENCE=90s; the default is 60s";
  return { code: "bad-silence", message: `MLRB_LEASE_SILENCE=${text} is not a duration`, help };
}
