// Polls what a sandbox uses: always the disk, and memory and processes if this user may make no groups. Over a
// limit, the caller ends everything. Between two polls a program may exceed a limit that the kernel does not hold
// by what it can take in that time.
import type { OverLimit, SandboxLimits } from "@mlrb/core/ports/sandbox";
import type { DiskLook } from "@mlrb/kit/files/disk-limit";
import type { Controller } from "@mlrb/kit/processes/control-groups";
import { overLimits } from "@mlrb/kit/processes/over-limits";
import { pollGently } from "@mlrb/kit/processes/poll-gently";
import { memoryOf, processesWith, threadsOf } from "./namespace-processes.ts";

type MeteredSandbox = {
  disk: DiskLook;
  limits: SandboxLimits;
  /** The first process of its namespace. */
  first: number;
  /** Limited by control groups already. */
  has: ReadonlySet<Controller>;
  /** Called once. */
  over(limit: OverLimit): void;
};

const pauseMs = 250;

/** `look` polls now, in addition to the regular polls. */
export function startMeter(metered: MeteredSandbox) {
  const stopping = new AbortController();
  const stopped = () => stopping.signal.aborted;
  const look = async () => {
    const over = stopped() ? undefined : await overLimit(metered);
    if (!over || stopped()) return;
    stopping.abort();
    metered.over(over);
  };
  void pollGently(look, { pauseMs, signal: stopping.signal });
  return { look, stop: () => stopping.abort() };
}

async function overLimit({ disk, limits, first, has }: MeteredSandbox): Promise<OverLimit | undefined> {
  const pids = processesWith(first);
  if (!has.has("pids") && threadsOf(pids) > limits.processes) return overLimits.processes(limits);
  if (!has.has("memory") && memoryOf(first, pids) > limits.memoryBytes) return overLimits.memory(limits);
  return await disk();
}
