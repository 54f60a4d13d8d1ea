// Measures at intervals how much disk a sandbox uses: no engine limits the files in a folder of the host. Where the
// folder is no file system of its own, a program may write more between two measurements.
import type { OverLimit } from "@mlrb/core/ports/sandbox";
import { diskLimit } from "@mlrb/kit/files/disk-limit";
import { pollGently } from "@mlrb/kit/processes/poll-gently";

export type DiskMeter = {
  /** Measures now. Undefined within the limit. */
  look(): Promise<OverLimit | undefined>;
  stop(): void;
};

export type DiskMeterOptions = {
  folder: string;
  limitBytes: number;
  /** The sandbox's processes by their ids on the host, for files without a name; empty if unknown. */
  pids: () => number[];
  /** Called once. */
  over(limit: OverLimit): void;
};

const pauseMs = 250;

export function startDiskMeter({ folder, limitBytes, pids, over }: DiskMeterOptions): DiskMeter {
  const stopping = new AbortController();
  const measured = diskLimit(folder, { limitBytes, find: pids });
  const look = async () => await (await measured)();
  const poll = async () => {
    const found = await look();
    if (!found || stopping.signal.aborted) return;
    stopping.abort();
    over(found);
  };
  void pollGently(poll, { pauseMs, signal: stopping.signal });
  return { look, stop: () => stopping.abort() };
}
