// Waits until this host sees what a job wrote: clients of NFS may show old folders for a minute.
import { setTimeout as sleep } from "node:timers/promises";
import { formatBytes } from "@mlrb/core/text/units";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { slurmOutputs } from "@mlrb/formats/stage/slurm-job";
import { type FileView, fileView } from "@mlrb/kit/files/file-view";

type Awaited = {
  /** What the node saw; undefined without a last file. */
  wrote: FileView | undefined;
  work: string;
  lateMs: number;
  /** Whether the job was asked to end. */
  isAsked: () => boolean;
};

export async function withOutputs(
  result: ExecutionResult,
  { wrote, work, lateMs, isAsked }: Awaited,
): Promise<ExecutionResult> {
  const isRead = result.kind === "succeeded" || (result.kind === "failed" && result.cause === "exit-code");
  if (!wrote || !isRead) return result;
  const begin = performance.now();
  for (let waitMs = 50; ; waitMs = Math.min(2 * waitMs, 1_000)) {
    const seen = fileView(work, slurmOutputs);
    if (seen.digest === wrote.digest) return result;
    if (isAsked()) return { kind: "cancelled" };
    if (performance.now() - begin > lateMs)
      return { kind: "failed", cause: "machine", detail: lateOutputs(wrote, seen) };
    await sleep(waitMs);
  }
}

function lateOutputs(wrote: FileView, seen: FileView): string {
  const words = ({ files, bytes }: FileView) =>
    `${files} ${files === 1 ? "file" : "files"} of ${formatBytes(bytes)}`;
  return `its node wrote ${words(wrote)}, and this host sees ${words(seen)}: does the node share this disk (.mlrb/work)?`;
}
