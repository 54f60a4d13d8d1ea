// What the attempts that a run would start need besides money: time on this host's GPUs, and disk.
// Pure: no disk, no clock.
import type { Execution } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import { formatBytes, formatDuration } from "@mlrb/core/text/units";
import type { Preview } from "@mlrb/local/decide/preview-plan";

export type TotalExtent = ReturnType<typeof totalExtent>;

type Sized = Pick<Execution, "resources" | "limits">;

/** Of the attempts among `started`. `executionOf`: by plan index. */
export function totalExtent(
  started: Pick<Preview, "index" | "cost">[],
  executionOf: (index: number) => Sized,
) {
  const total = {
    /** GPU milliseconds of all attempts: as earlier ones took, else as their budgets allow. */
    gpuMs: 0,
    /** The longest attempt on a GPU: no number of GPUs makes a run shorter. */
    longestMs: 0,
    /** Attempts on GPUs without any bound on time. */
    unbounded: 0,
    /** Whether every time is of earlier attempts. */
    measured: true,
    /** The most disk that one attempt may use; 0 without a limit. */
    diskBytes: 0,
  };
  for (const { index, cost } of started) {
    if (!cost) continue;
    const { resources, limits } = executionOf(index);
    total.diskBytes = Math.max(total.diskBytes, limits.diskBytes ?? 0);
    if (resources.gpus === 0) continue;
    total.measured &&= cost.from > 0;
    if (cost.timeMs === null) {
      total.unbounded++;
      continue;
    }
    total.gpuMs += cost.timeMs * resources.gpus;
    total.longestMs = Math.max(total.longestMs, cost.timeMs);
  }
  return total;
}

const dayMs = 86_400_000;

/**
 * `gpus`: those of this host. `now`: milliseconds since 1970. Empty where no attempt has a GPU. CPUs, memory or
 * pools may let fewer attempts run at once.
 */
export function endWords(
  { gpuMs, longestMs, unbounded, measured }: TotalExtent,
  { gpus, now }: { gpus: number; now: number },
): string {
  if (gpuMs === 0) return "";
  const ms = Math.max(longestMs, gpuMs / Math.max(1, gpus));
  const open = `${measured ? "" : ", if each takes its whole budget"}${unbounded > 0 ? `; ${unbounded} without a bound are not counted` : ""}`;
  const long = `about ${ms < 2 * dayMs ? formatDuration(ms) : `${(ms / dayMs).toFixed(1)} days`}`;
  return gpus === 0
    ? `expected end of the attempts: ${long} after their start on one GPU, less with more; this host has none${open}`
    : `expected end of the attempts: ${long} after their start if this host's ${counted(gpus, "GPU")} ${gpus === 1 ? "is" : "are"} always in use, by ${new Date(now + ms).toISOString().slice(0, 10)} if they start now${open}`;
}

/** `downloadBytes`: that downloads take in all their copies. Empty if neither is known. */
export function diskWords({ diskBytes }: TotalExtent, downloadBytes: number): string {
  const parts = [
    ...(downloadBytes > 0 ? [`about ${formatBytes(downloadBytes)} for the downloads and their copies`] : []),
    ...(diskBytes > 0 ? [`at most ${formatBytes(diskBytes)} for each attempt that runs`] : []),
  ];
  return parts.length === 0 ? "" : `on disk: ${parts.join(", ")}`;
}
