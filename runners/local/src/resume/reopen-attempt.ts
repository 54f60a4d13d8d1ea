// Brings quarantined attempts back to the running ones, so that a run continues them: their supervisors were asked
// to end, or failed, and the files of their sandboxes are kept.
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { closeEndedJobs } from "@mlrb/kit/attempts/open-job";
import {
  attemptOf,
  DamagedAttempt,
  endingFile,
  type PlacedAttempt,
  stopFile,
  supervisorFile,
} from "../attempts/attempt-folders.ts";
import { causeFile } from "../attempts/quarantine.ts";
import { type Lease, tryLease } from "../leases/lease.ts";
import { ownerWords } from "../leases/owner.ts";
import type { AttemptRecords } from "../records/attempt-records.ts";
import { outputPaths } from "../stage/output-paths.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { isResumable } from "./resumable.ts";

type Place = {
  state: Pick<StateFolder, "running" | "leases">;
  records: Pick<AttemptRecords, "has">;
};

/** Brings back all of these attempts, or none: returned is then one that must stay, and why. */
export function reopenAttempts(
  lost: readonly PlacedAttempt[],
  place: Place,
): { attempt: PlacedAttempt; why: string } | undefined {
  const { running, leases } = place.state;
  const held = new Map<string, Lease>();
  try {
    for (const attempt of lost) {
      const { path, card } = attempt;
      if (held.has(card.key)) return { attempt, why: "another attempt in its place is to be resumed too" };
      if (!isResumable(path, card))
        return { attempt, why: "it has no conversation with a model, or the files of its sandbox are gone" };
      const lease = tryLease(leases, card.key);
      if (!("release" in lease))
        return { attempt, why: `a run is at work on an attempt in its place: ${ownerWords(lease.heldBy)}` };
      held.set(card.key, lease);
      const why = rivalOf(card.key, place);
      if (why !== undefined) return { attempt, why };
    }
    for (const attempt of lost) reopen(attempt, running);
    return undefined;
  } finally {
    for (const lease of held.values()) lease.release();
  }
}

/** The attempt that has the place. An attempt whose run has ended holds no lease. */
function rivalOf(key: string, { state, records }: Place): string | undefined {
  if (records.has(key)) return "an attempt in its place is recorded: `pnpm pipeline attempts list` shows it";
  try {
    const rival = attemptOf(key, { state });
    return (
      rival && `${rival.name} in .mlrb/attempts/running has its place; \`attempts stop\` on its host ends it`
    );
  } catch (error) {
    if (error instanceof DamagedAttempt) return error.words;
    throw error;
  }
}

function reopen({ name, path, card }: PlacedAttempt, running: string): void {
  const to = join(running, name);
  renameSync(path, to);
  for (const part of ["in", "tmp"]) mkdirSync(join(to, part), { recursive: true });
  const { ledger } = outputPaths(to, card.gives);
  const written = [causeFile, stopFile, endingFile].map((file) => join(to, file));
  for (const file of [supervisorFile(to), ...(ledger ? [ledger] : []), ...written])
    rmSync(file, { force: true });
  closeEndedJobs(to);
  rmSync(join(to, "end.json"), { force: true }); // last: until then a run quarantines it again
}
