// What of an attempt's folder goes to the node of its next job, and what must be true of what comes back.
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { relative } from "node:path";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import { resumeSocket } from "@mlrb/core/ports/resume-request";
import type { ParcelJob } from "@mlrb/formats/stage/parcel";
import { claimFile } from "@mlrb/kit/attempts/attempt-claim";
import { checkpointParcel } from "@mlrb/kit/attempts/checkpoint-parcel";
import { checkpointsFolder } from "@mlrb/kit/attempts/left-checkpoint";
import { leftSandbox } from "@mlrb/kit/attempts/left-sandbox";

/** Of this host: its supervisor, its jobs, what it waits for, and room that it reserved. */
const staysHere = new Set([
  ...["in", "out", "jobs", "log", "supervisor.log", "parcels", "end.json", "ending.json", "stop.json"],
  ...[claimFile, checkpointsFolder, resumeSocket.folder],
]);

type Sent = { letter: NonNullable<ParcelJob["attempt"]>; names: string[] };

/** Throws for an attempt whose files are in a sandbox on this host. */
export function attemptParcel({ work, outputs }: ExecutionRequest): Sent {
  const { trajectory, attachments } = outputs;
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const continues = trajectory !== undefined && sizeOf(trajectory) > 0;
  const named = continues ? checkpointParcel(work) : undefined;
  if (continues && !named && leftSandbox(work))
    throw new Error(
      "the files of its sandbox are on the disk of this host: continue it with the profile that began it",
    );
  const mine = readdirSync(work).filter(
    (name) => !staysHere.has(name) && !/^attempt-|\.reserved$|\.tmp$/.test(name),
  );
  // of an attempt that continues, submission and snapshots come with the checkpoint
  const out = continues
    ? [trajectory, attachments].flatMap((path) => (path && existsSync(path) ? [relative(work, path)] : []))
    : ["out"];
  return {
    letter: { continues, checkpoints: named ? [named.parcel, ...(named.before ? [named.before] : [])] : [] },
    names: [...mine, ...out],
  };
}

/** Throws unless the file `now` begins with everything that is in `before`, but for a last line that was cut off. */
export function mustHaveGrown(before: string, now: string): void {
  if (!existsSync(before)) return;
  const held = openSync(before, "r");
  try {
    const came = existsSync(now) ? openSync(now, "r") : undefined;
    try {
      if (came !== undefined && beginsWith(came, held)) return;
    } finally {
      if (came !== undefined) closeSync(came);
    }
  } finally {
    closeSync(held);
  }
  throw new Error(`what its node sent lacks lines of ${before}`);
}

const pieceBytes = 1 << 20;
const newline = 10;

function beginsWith(came: number, held: number): boolean {
  const { size } = fstatSync(held);
  const [one, other] = [Buffer.alloc(pieceBytes), Buffer.alloc(pieceBytes)];
  for (let at = 0; at < size; at += pieceBytes) {
    const length = readSync(held, one, 0, pieceBytes, at);
    readSync(came, other.fill(0), 0, length, at);
    if (one.subarray(0, length).equals(other.subarray(0, length))) continue;
    const differs = one.findIndex((byte, index) => byte !== other[index]);
    // a cut line is at the very end
    return at + length >= size && !one.subarray(differs, length).includes(newline);
  }
  return true;
}
