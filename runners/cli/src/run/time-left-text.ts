// The remaining time of a run: coarse, since it is an estimate.
import type { TimeLeft } from "@mlrb/core/schedule/time-left";
import { formatDuration } from "@mlrb/core/text/units";

/** `about 4 m left`; `at least` if some instances were never timed; empty without an estimate. */
export function timeLeftText(left: TimeLeft | undefined): string {
  if (!left || left.ms < 1000) return "";
  return `${left.untimed > 0 ? "at least" : "about"} ${coarse(left.ms)} left`;
}

function coarse(ms: number): string {
  if (ms < 10_000) return `${Math.ceil(ms / 1000)} s`;
  if (ms < 55_000) return `${Math.ceil(ms / 5000) * 5} s`;
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 60 ? `${minutes} m` : formatDuration(minutes * 60_000);
}
