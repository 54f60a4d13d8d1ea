// The supervisor's record of an attempt: one JSON object a line, appended and never changed. Each line holds the
// digest of the line before it, which reveals a changed, lost or inserted line. The ledger keeps the digest of the
// last line, which reveals a cut end. Secrets are removed before a line reaches the disk. Texts too long for a
// line become attachments.
import { hash } from "node:crypto";
import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from "node:fs";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { noLine } from "@mlrb/kit/attempts/verify-trajectory";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import { canonicalJson } from "@mlrb/kit/json-file";
import { type Attachments, shortened } from "./attachments.ts";

type TrajectoryOptions = {
  /** The wall clock's time in ms, and the ms since the agent's start. */
  now: () => { wall: number; sinceStart: number };
  /** Removes secrets from a text. */
  redact?: (text: string) => string;
  /** Frees reserved room on a full disk; false if none is left. */
  makeRoom?: () => boolean;
  /** The lines that the file holds already, after a restart. */
  earlier?: { lines: number; head: string; bytes: number };
  /** For texts too long for a line. Without it every text is in its line. */
  attachments?: Attachments;
};

// There are thousands of these, and they describe finished work. All other events must survive a power cut.
const unsynced = new Set<TrajectoryEvent["event"]>([
  "output",
  "tool-call",
  "tool-result",
  "message",
  "note",
  "model-request",
  "request-part",
]);

export function openTrajectory(path: string, options: TrajectoryOptions) {
  const { now, redact, attachments, earlier } = options;
  const file = openSync(path, earlier ? "a" : "ax");
  let index = earlier?.lines ?? 0;
  let whole = earlier?.bytes ?? 0;
  let previous = earlier?.head ?? noLine;
  let short = false;
  let closed = false;
  /** A nearly full disk takes part of a line without an error, and refuses the rest with one. */
  const append = (bytes: Buffer) => {
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      whole += bytes.length;
    } catch (error) {
      ftruncateSync(file, whole); // otherwise a later line after half a line would look like a broken chain
      throw error;
    }
  };
  return {
    add(event: TrajectoryEvent) {
      if (closed) return; // work left by an interrupted attempt may still try to record events
      const { wall, sinceStart } = now();
      const clean = redact ? redacted(event, redact) : event;
      const record = {
        formatVersion: 1,
        index,
        previous,
        time: new Date(wall).toISOString(),
        sinceStartMs: Math.round(sinceStart),
        ...(attachments ? shortened(clean, attachments) : clean),
      };
      const line = canonicalJson(record);
      const bytes = Buffer.from(`${line}\n`);
      try {
        append(bytes);
      } catch (error) {
        if (!isFullDisk(error) || !options.makeRoom?.()) throw cannotWrite(error, path);
        short = true;
        try {
          append(bytes);
        } catch (again) {
          throw cannotWrite(again, path);
        }
      }
      previous = hash("sha256", line);
      index++;
      if (!unsynced.has(event.event)) fsyncSync(file);
    },
    /** The number of lines, and the digest of the last. */
    seal: () => ({ lines: index, head: previous }),
    /** Whether the last lines used the reserved room: then no more lines fit. */
    short: () => short,
    close() {
      if (!closed) closeSync(file);
      closed = true;
    },
  };
}

function cannotWrite(error: unknown, path: string): Error {
  return new Error(
    `cannot write the trajectory: ${(error as Error).message}; free some space where ${path} is and run again`,
    { cause: error },
  );
}

/** `value` without secrets in any text, including field names: an agent's JSON may be anywhere in it. */
function redacted<T>(value: T, redact: (text: string) => string): T {
  if (typeof value === "string") return redact(value) as T;
  if (Array.isArray(value)) return value.map((one) => redacted(one, redact)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [redact(name), redacted(one, redact)]),
  ) as T;
}
