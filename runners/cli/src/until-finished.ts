// Waits for a run, and ends it when the person who runs says so.
import type { RunHandle } from "@mlrb/local/run-request";
import type { Progress } from "./progress.ts";
import { isWatched } from "./watched.ts";

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
  const watched = isWatched();
  const listen = (how: "on" | "off") => {
    // a terminal's signals reach the watcher as well, which passes them on: counted once, not twice
    for (const signal of ["SIGINT", "SIGHUP"] as const) process[how](signal, watched ? ignore : interrupt);
    process[how]("SIGTERM", interrupt);
    if (watched) process[how]("message", interrupt)[how]("disconnect", interrupt);
  };
  listen("on");
  try {
    await run.finished;
  } finally {
    progress.end();
    listen("off");
  }
  return interrupts;
}

function ignore(): void {}
