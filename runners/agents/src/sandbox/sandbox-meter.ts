// Looks now and then at what a sandbox takes, for the limits that no control group holds: the disk always, memory
// and processes where this user may make no groups. Over one of them, the caller ends everything.
// Between two looks a program may go beyond a limit by what it manages to take in that time.
import { setTimeout as sleep } from "node:timers/promises";
import type { OverLimit, SandboxLimits } from "@mlrb/core/ports/sandbox";
import { diskUsed } from "../folders/disk-used.ts";
import type { Controller } from "./control-groups.ts";
import { memoryOf, namelessBytes, processesWith, threadsOf } from "./namespace-processes.ts";

export type SandboxMeter = {
  /** Looks now, as it does by itself now and then. */
  look(): Promise<void>;
  stop(): void;
};

export type MeteredSandbox = {
  folder: string;
  /** The disk that the folder lies on, as stat numbers it. */
  device: number;
  limits: SandboxLimits;
  /** The first process of its namespace. */
  first: number;
  /** What control groups hold already. */
  has: ReadonlySet<Controller>;
  /** Called once. */
  over(limit: OverLimit): void;
};

const pauseMs = 250;

export function startMeter(metered: MeteredSandbox): SandboxMeter {
  const stopping = new AbortController();
  const stopped = () => stopping.signal.aborted;
  const look = async () => {
    const over = stopped() ? undefined : await overLimit(metered);
    if (!over || stopped()) return;
    stopping.abort();
    metered.over(over);
  };
  void (async () => {
    let pause = pauseMs;
    while (!stopped()) {
      await sleep(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
      const begun = performance.now();
      await look();
      // looking costs the agent its disk and its core: at most a tenth of the time
      pause = Math.max(pauseMs, 9 * (performance.now() - begun));
    }
  })();
  return { look, stop: () => stopping.abort() };
}

async function overLimit({
  folder,
  device,
  limits,
  first,
  has,
}: MeteredSandbox): Promise<OverLimit | undefined> {
  const pids = processesWith(first);
  if (!has.has("pids") && threadsOf(pids) > limits.processes)
    return { limit: "processes", detail: `more than ${limits.processes} processes and threads at once` };
  if (!has.has("memory") && memoryOf(first, pids) > limits.memoryBytes)
    return {
      limit: "memory",
      detail: `its programs together took more than ${limits.memoryBytes} bytes of memory`,
    };
  const used = ((await diskUsed(folder)) ?? 0) + namelessBytes(pids, device);
  if (used > limits.diskBytes)
    return { limit: "disk", detail: `its files together took ${used} bytes of ${limits.diskBytes}` };
  return undefined;
}
