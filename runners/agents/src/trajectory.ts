// The supervisor's record of an attempt: one JSON object a line, appended and never changed. Each line
// carries the digest of the one before it, so that a changed, lost or inserted line is seen, and the
// ledger keeps the digest of the last, so that a cut end is seen too.
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from "node:fs";
import type { TrajectoryEvent } from "@mlrb/core/trajectory-event";
import { canonicalJson } from "@mlrb/kit/json-file";

/** What the first line has in place of a previous line's digest. */
export const noLine = "0".repeat(64);

export type { TrajectoryEvent };

export type Trajectory = {
  add(event: TrajectoryEvent): void;
  /** How many lines, and the digest of the last. */
  seal(): { lines: number; head: string };
  close(): void;
};

/** Starts a trajectory. `now` gives the wall clock's time in ms and the ms since the agent's start. */
export function openTrajectory(path: string, now: () => { wall: number; sinceStart: number }): Trajectory {
  const file = openSync(path, "ax");
  let index = 0;
  let whole = 0;
  let previous = noLine;
  return {
    add(event) {
      const { wall, sinceStart } = now();
      const record = {
        formatVersion: 1,
        index,
        previous,
        time: new Date(wall).toISOString(),
        sinceStartMs: Math.round(sinceStart),
        ...event,
      };
      const line = canonicalJson(record);
      const bytes = Buffer.from(`${line}\n`);
      // a disk that is nearly full takes part of a line without an error, and refuses the rest with one
      try {
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
        whole += bytes.length;
      } catch (error) {
        ftruncateSync(file, whole); // half a line would be taken for a broken chain, if there is more to add
        throw new Error(
          `cannot write the trajectory: ${(error as Error).message}; make room where ${path} lies and run again`,
          { cause: error },
        );
      }
      previous = createHash("sha256").update(line).digest("hex");
      index++;
      // output comes in thousands of lines; everything else is rare and must survive a crash
      if (event.event !== "output") fsyncSync(file);
    },
    seal: () => ({ lines: index, head: previous }),
    close: () => closeSync(file),
  };
}
