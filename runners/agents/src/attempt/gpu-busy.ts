// Measures how long the GPUs of an attempt computed. nvidia-smi is polled for the share of recent time in which
// kernels ran. Without a report (no driver, a slice of a divided GPU, too many unanswered polls) the time is unknown,
// never 0.
import { setTimeout as sleep } from "node:timers/promises";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { execa } from "execa";

export type GpuBusy = {
  /** Ms in which the GPUs computed, summed over all of them, of an attempt of `wallMs`; null if that is not known. */
  busyMs(wallMs: number): number | null;
  stop(): void;
};

/** One poll: the sum of the shares (0 to 1) of all GPUs; null if the driver did not report one of them. */
export type BusySample = { atMs: number; shares: number | null };

export type WatchGpus = {
  /** Monotonic, ms since the attempt began. */
  now(): number;
  pauseMs: number;
  /** Resolves with the share of each GPU by its uuid. */
  ask?: () => Promise<Map<string, number>>;
};

export function watchGpus(gpus: readonly Gpu[], { now, pauseMs, ask = askDriver }: WatchGpus): GpuBusy {
  const samples: BusySample[] = [];
  const over = new AbortController();
  void (async () => {
    const pause = () => sleep(pauseMs, undefined, { ref: false, signal: over.signal }).then(() => true);
    while (gpus.length > 0 && (await pause().catch(() => false))) {
      const shares = await ask().catch(() => new Map<string, number>());
      if (!over.signal.aborted) samples.push({ atMs: now(), shares: sharesOf(gpus, shares) });
    }
  })();
  return { busyMs: (wallMs) => busyMsOf(samples, wallMs), stop: () => over.abort() };
}

/** Without the share of one GPU the sum is unknown. */
function sharesOf(gpus: readonly Gpu[], reported: Map<string, number>): number | null {
  const shares = gpus.map(({ uuid }) => reported.get(uuid) ?? null);
  return shares.includes(null) ? null : (shares as number[]).reduce((all, one) => all + one, 0);
}

/** The part of the time that samples must cover, or the result is unknown. */
const coveredLeast = 0.9;

/**
 * Each sample counts for the time since the one before. The rest of `wallMs` is assumed to be like the known part.
 * Pure.
 */
export function busyMsOf(samples: readonly BusySample[], wallMs: number): number | null {
  let [before, coveredMs, busyMs] = [0, 0, 0];
  for (const { atMs, shares } of samples) {
    if (shares !== null) {
      coveredMs += atMs - before;
      busyMs += shares * (atMs - before);
    }
    before = atMs;
  }
  if (coveredMs === 0 || coveredMs < coveredLeast * before) return null;
  return Math.round((busyMs / coveredMs) * wallMs);
}

/** Rejects if there is no driver or it does not answer. */
async function askDriver(): Promise<Map<string, number>> {
  const args = ["--query-gpu=uuid,utilization.gpu", "--format=csv,noheader,nounits"];
  const { stdout } = await execa("nvidia-smi", args, {
    stdin: "ignore",
    timeout: 10_000,
    maxBuffer: 1 << 20,
  });
  return readShares(stdout);
}

/** Lines `uuid, percent`. Skips values that are no percentage (`[N/A]`). */
export function readShares(text: string): Map<string, number> {
  const shares = new Map<string, number>();
  for (const line of text.split(/\r?\n/)) {
    const [, uuid, percent] = /^\s*(\S+),\s*(\d+)\s*$/.exec(line) ?? [];
    if (uuid !== undefined && Number(percent) <= 100) shares.set(uuid, Number(percent) / 100);
  }
  return shares;
}
