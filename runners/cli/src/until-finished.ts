// Waits for a run, and ends it when the person who runs says so.
import type { RunHandle } from "@mlrb/local/run-request";
import type { Progress } from "./progress.ts";

/** Waits for the run, ending it on signals; gives how many came. */
export async function untilFinished(run: RunHandle, progress: Progress): Promise<number> {
  let interrupts = 0;
  const interrupt = () => {
    interrupts++;
    progress.note(
      interrupts === 1
        ? "ending: running stages are asked to stop; again (Ctrl-C) kills them. What has finished is kept."
        : "killing what runs",
    );
    run.interrupt();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, interrupt);
  try {
    await run.finished;
  } finally {
    progress.end();
    for (const signal of signals) process.off(signal, interrupt);
  }
  return interrupts;
}
