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
  // the terminal is gone, by a closed lid or a lost line, and nobody said that a day's work should end
  const hungUp = () => {
    interrupts++;
    progress.note("the terminal is gone: attempts go on without this run; run again to go on with them");
    run.interrupt({ leaveAttempts: true });
  };
  const watched = isWatched();
  const listen = (how: "on" | "off") => {
    // a terminal's signals reach the watcher as well, which passes them on: counted once, not twice
    process[how]("SIGINT", watched ? ignore : interrupt)[how]("SIGHUP", watched ? ignore : hungUp);
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
