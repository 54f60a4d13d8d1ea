// Waits for a run, and ends it on signals. Attempts keep running under their supervisors: they cost too much to be
// lost by one key press. A second Ctrl-C within ten seconds stops them too.
import type { Instance } from "@mlrb/core/plan/plan";
import type { RunHandle } from "@mlrb/local/run/run-request";
import { interruptMessage, isWatched } from "../watch/watcher-channel.ts";
import type { Progress } from "./progress.ts";

/** How long to wait for a second Ctrl-C if attempts keep running. */
const secondMs = 10_000;

export type LeftAttempt = { instance: Instance; name: string };

export type Leaving = {
  /** Attempts that keep running without this run so far. */
  left: readonly LeftAttempt[];
  /** Stops them and prints the result of each. */
  stop: (left: readonly LeftAttempt[]) => Promise<void>;
  /** Prints how to stop them and what the next run does; for those that ended too, where their files are. */
  printLeft: (left: readonly LeftAttempt[]) => Promise<void>;
};

/** Waits for the run, ending it on signals; returns the number of signals. */
export async function untilFinished(run: RunHandle, progress: Progress, leaving?: Leaving): Promise<number> {
  let interrupts = 0;
  let firstAt: number | undefined;
  const { promise: again, resolve: askedAgain } = Promise.withResolvers<"stop">();
  const end = (words: string) => {
    interrupts++;
    if (interrupts === 1) progress.note(words);
    if (interrupts === 2) progress.note("killing running stages");
    run.interrupt();
  };
  const interrupt = () => {
    if (firstAt !== undefined && performance.now() - firstAt <= secondMs) askedAgain("stop");
    firstAt ??= performance.now();
    end(
      "stopping: running stages are asked to stop, a second Ctrl-C kills them; attempts keep running, a second Ctrl-C within 10 s stops them too. Finished results are kept.",
    );
  };
  const leave = () =>
    end("stopping: running stages are asked to stop, attempts keep running without this run");
  const watched = isWatched();
  const onMessage = (message: unknown) => (message === interruptMessage ? interrupt() : leave());
  const listen = (how: "on" | "off") => {
    // a terminal's signals also reach the watcher, which forwards them: count them once
    process[how]("SIGINT", watched ? ignore : interrupt)[how]("SIGHUP", watched ? ignore : leave);
    process[how]("SIGTERM", leave);
    if (watched) process[how]("message", onMessage)[how]("disconnect", leave);
  };
  listen("on");
  try {
    await run.finished;
    progress.end();
    if (leaving && leaving.left.length > 0) {
      await leaving.printLeft(leaving.left);
      if ((await second(again, firstAt)) === "stop") await leaving.stop(leaving.left);
    }
  } finally {
    progress.end();
    listen("off");
  }
  return interrupts;
}

/** Only after a Ctrl-C; any other signal ends the program at once. */
async function second(again: Promise<"stop">, firstAt: number | undefined): Promise<"stop" | undefined> {
  if (firstAt === undefined) return undefined;
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), Math.max(0, secondMs - (performance.now() - firstAt)));
  try {
    return await Promise.race([again, over]);
  } finally {
    clearTimeout(timer);
  }
}

function ignore(): void {}
