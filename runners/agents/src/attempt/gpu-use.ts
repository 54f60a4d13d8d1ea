// Measures how long the GPUs of an attempt computed, and the most memory that was in use on one of them.
// nvidia-smi is polled for the share of recent time in which kernels ran, and for the memory in use. Without a
// report (no driver, a slice of a divided GPU, too many unanswered polls) the value is unknown, never 0.
import { setTimeout as sleep } from "node:timers/promises";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { execa } from "execa";

/** What the driver reports of a GPU. null: not this value. */
type Reported = { share: number | null; memoryMiB: number | null };

/** One poll: the sum of the shares (0 to 1) of all GPUs; null if the driver did not report one of them. */
export type BusySample = { atMs: number; shares: number | null };

export type WatchGpus = {
  /** Monotonic, ms since the attempt began. */
  now(): number;
  pauseMs: number;
  /** Resolves with the report on each GPU by its uuid. */
  ask?: () => Promise<Map<string, Reported>>;
};

export function watchGpus(gpus: readonly Gpu[], { now, pauseMs, ask = askDriver }: WatchGpus) {
  const samples: BusySample[] = [];
  let memoryPeakMiB: number | null = null;
  const over = new AbortController();
  void (async () => {
    const pause = () => sleep(pauseMs, undefined, { ref: false, signal: over.signal }).then(() => true);
    while (gpus.length > 0 && (await pause().catch(() => false))) {
      const reported = await ask().catch(() => new Map<string, Reported>());
      if (over.signal.aborted) return;
      samples.push({ atMs: now(), shares: sharesOf(gpus, reported) });
      const memory = gpus.flatMap(({ uuid }) => reported.get(uuid)?.memoryMiB ?? []);
      if (memory.length > 0) memoryPeakMiB = Math.max(memoryPeakMiB ?? 0, ...memory);
    }
  })();
  return {
    /** Ms in which the GPUs computed, summed over all of them, of an attempt of `wallMs`; null if that is not known. */
    busyMs: (wallMs: number) => busyMsOf(samples, wallMs),
    /** MiB, on the GPU that used most at one of the polls; null if no poll was answered for any. */
    memoryPeakMiB: () => memoryPeakMiB,
    stop: () => over.abort(),
  };
}

/** Without the share of one GPU the sum is unknown. */
function sharesOf(gpus: readonly Gpu[], reported: Map<string, Reported>): number | null {
  const shares = gpus.map(({ uuid }) => reported.get(uuid)?.share ?? null);
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
async function askDriver(): Promise<Map<string, Reported>> {
  const args = ["--query-gpu=uuid,utilization.gpu,memory.used", "--format=csv,noheader,nounits"];
  const { stdout } = await execa("nvidia-smi", args, {
    stdin: "ignore",
    timeout: 10_000,
    maxBuffer: 1 << 20,
  });
  return readReports(stdout);
}

/** Lines `uuid, percent, MiB`. A value that is no number or no percentage (`[N/A]`) is unknown. */
export function readReports(text: string): Map<string, Reported> {
  const reports = new Map<string, Reported>();
  for (const line of text.split(/\r?\n/)) {
    const [uuid, percent, memory, ...more] = line.split(",").map((part) => part.trim());
    if (!uuid || memory === undefined || more.length > 0) continue;
    const share = numberIn(percent);
    const memoryMiB = numberIn(memory);
    reports.set(uuid, { share: share === null || share > 100 ? null : share / 100, memoryMiB });
  }
  return reports;
}

function numberIn(text = ""): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
