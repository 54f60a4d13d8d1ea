// Brings a quarantined attempt back to the running ones, so that a run continues it: its supervisor was asked to end, or
// failed, and the files of its sandbox are kept.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tryLease } from "../leases/lease.ts";
import { outputPaths } from "../stage/output-paths.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { endingFile, type PlacedAttempt, stopFile, supervisorFile } from "./attempt-folders.ts";
import { causeFile } from "./quarantine.ts";
import { isResumable } from "./resumable.ts";

/** A text says why it stays where it is. */
export function reopenAttempt(
  { name, path, card }: PlacedAttempt,
  { running, leases }: Pick<StateFolder, "running" | "leases">,
): string | undefined {
  if (!isResumable(path, card))
    return "it has no conversation with a model, or the files of its sandbox are gone";
  const lease = tryLease(leases, card.key);
  if (!("release" in lease)) return "a run is at work on another attempt in its place";
  try {
    const to = join(running, name);
    renameSync(path, to);
    for (const part of ["in", "tmp"]) mkdirSync(join(to, part), { recursive: true });
    const { ledger } = outputPaths(to, card.gives);
    const written = [
      supervisorFile(to),
      ledger,
      ...[causeFile, stopFile, endingFile].map((file) => join(to, file)),
    ];
    for (const file of written) if (file !== undefined && existsSync(file)) rmSync(file);
    rmSync(join(to, "end.json"), { force: true }); // last: until then a run quarantines it again
    return undefined;
  } finally {
    lease.release();
  }
}
