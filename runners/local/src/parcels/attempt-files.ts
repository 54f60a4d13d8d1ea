// Which files of an attempt's folder a node without a shared disk and the host that submitted keep alike while the attempt
// runs. Submission, snapshots and ledger come with the end of the job: a ledger on the host says that all of them are there.
import { join, relative } from "node:path";
import { goOnFile, pauseFile, waitFile } from "@mlrb/core/ports/attempt-wait";
import { interventionsFile } from "@mlrb/formats/declared/intervention";
import { checkpointParcelFile } from "@mlrb/kit/attempts/checkpoint-parcel";

export type AttemptFiles = {
  /** Absolute. */
  folder: string;
  /** Append-only; relative, as all others. */
  appended: string[];
  /** The folder of long texts, each named by its digest. */
  attachments: string | undefined;
  /** Small files that the node writes. */
  whole: string[];
};

/** What a node reports of an attempt's end, next to its outputs. */
export const reports: readonly string[] = ["where.json", "trouble.json", "spending.jsonl"];

/** Small files that people write on the host that submitted. */
export const ordered: readonly string[] = [interventionsFile, goOnFile, pauseFile];

/** `outputs`: paths by output name. */
export function attemptFiles(folder: string, outputs: Record<string, string>): AttemptFiles {
  const { trajectory, attachments } = outputs;
  return {
    folder,
    appended: ["spending.jsonl", ...(trajectory === undefined ? [] : [relative(folder, trajectory)])],
    attachments: attachments === undefined ? undefined : relative(folder, attachments),
    whole: [waitFile, checkpointParcelFile],
  };
}

export function logOf({ folder }: AttemptFiles): string {
  return join(folder, "log");
}
