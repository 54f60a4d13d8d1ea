// Writes the end of an attempt: the submission, the last lines of the trajectory, and the ledger that seals it.
// The ledger comes last, so an attempt with a ledger is complete.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SnapshotResult } from "@mlrb/core/ports/sandbox";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { isFullDisk, releaseReserved, writeReserved } from "@mlrb/kit/files/full-disk";
import { canonicalJson } from "@mlrb/kit/json-file";
import { sealTimes } from "@mlrb/kit/processes/seal-times";
import { attemptLedger, endedAs, type Interruption } from "./attempt-ledger.ts";
import { after } from "./interruption.ts";
import { keepWorkspace, keptIndex, noteNotKept } from "./keep-workspace.ts";
import type { SupervisedRun } from "./supervise.ts";
import type { Supervision } from "./supervision.ts";
import type { Ending } from "./watch-program.ts";

export type Seal = Pick<Supervision, "request" | "clock" | "meter" | "trajectory"> & {
  tally?: Pick<NonNullable<Supervision["tally"]>, "ledger"> | undefined;
  sandbox: Pick<Supervision["sandbox"], "texts">;
  interventions: Pick<Supervision["interventions"], "close" | "sums">;
  snapshots: Pick<Supervision["snapshots"], "final" | "index">;
  iterations: Pick<Supervision["iterations"], "count">;
  gpuUse: Pick<Supervision["gpuUse"], "busyMs" | "memoryPeakMiB">;
  /** Of a replay. */
  replay?: Ledger["replay"];
  /** What is done already. An interruption continues from there. */
  progress: Progress;
  /** Between two tries on a full disk; a second unless a test sets it. */
  pause?: (signal: AbortSignal) => Promise<void>;
};

type Progress = {
  /** The agent came to its own end; `ran` is undefined if nothing was run. */
  ended?: { ran: SupervisedRun | undefined };
  /** The copy of the submission, in progress or done. */
  copy?: Promise<SnapshotResult> | undefined;
  /** Whether the trajectory has the end. */
  endRecorded?: boolean;
  /** Written: the attempt is sealed. */
  ledger?: Ledger;
};

/** Room for the last lines of the trajectory, and for the ledger, reserved before anything is spent. */
export const reservedBytes = 256 << 10;
export const ledgerBytes = 64 << 10;
const retryMs = 1_000;

const snapshotsIndex = (outputs: { snapshots: string }) => join(outputs.snapshots, "index.json");

/** What else has `ledgerBytes` reserved. */
export const sealFiles = (outputs: Seal["request"]["outputs"]) => [
  ...[snapshotsIndex(outputs), outputs.ledger],
  ...(outputs.workspace === undefined ? [] : [keptIndex(outputs.workspace)]),
];

/** Seals an attempt that came to its end; `ran` is undefined if nothing was run. Waits for room on a full disk. */
export async function sealEnded(seal: Seal, ran: SupervisedRun | undefined): Promise<Ledger> {
  const patiently = untilThereIsRoom(seal);
  seal.progress.ended = { ran };
  const final = await patiently(() => copied(seal));
  const { workspace } = seal.request.outputs;
  if (workspace !== undefined) await patiently(() => keepWorkspace(seal.sandbox, workspace));
  await patiently(() => recordEnd(seal, { ending: ran?.ending, final }));
  return patiently(() => writeLedger(seal, { ran, ending: ran?.ending, final }));
}

/**
 * Seals an attempt that something outside it ended, for `reason`. Never throws and takes little time, because the
 * sender of the signal may not grant more. The workspace is kept with all that cannot be written any more. Returns
 * the ledger if the attempt had come to its own end before and its submission is complete.
 */
export async function sealInterrupted(seal: Seal, reason: unknown): Promise<Ledger | undefined> {
  const { request, trajectory, progress } = seal;
  const why = reason instanceof Error ? reason.message : String(reason);
  releaseReserved(request.outputs.trajectory);
  const final = await submissionInTime(seal);
  if (progress.ledger) return progress.ledger; // the work in progress came to its end meanwhile
  const { ended } = progress;
  const sealed: Sealed =
    ended && !("late" in final)
      ? { ran: ended.ran, ending: ended.ran?.ending, final }
      : { ran: undefined, ending: { kind: "interrupted", why }, final };
  const { workspace } = request.outputs;
  for (const write of [
    () => recordEnd(seal, sealed),
    () => workspace !== undefined && noteNotKept(workspace),
    () => writeLedger(seal, sealed),
  ])
    try {
      write();
    } catch (error) {
      console.error(`the attempt is not sealed: ${(error as Error).message}`);
    }
  trajectory.close(); // work in progress must not add to what is sealed
  return ended && !("late" in final) ? progress.ledger : undefined;
}

/** One copy at a time, whichever function asks. Another try after a failed one. */
function copied({ request, snapshots, progress }: Seal): Promise<SnapshotResult> {
  if (progress.copy) return progress.copy;
  const copy = snapshots.final(request.outputs.submission);
  progress.copy = copy;
  copy.catch(() => {
    progress.copy = undefined;
  });
  return copy;
}

/** Not copied completely, for a reason that the agent did not cause. */
type Late = SnapshotResult & { late: true };

/** The submission as it is now, if copying ends in the time that is left. The workspace is kept in any case. */
async function submissionInTime(seal: Seal): Promise<SnapshotResult | Late> {
  const late = (detail: string): Late => ({ kind: "over-limits", state: "", detail, late: true });
  const copy = copied(seal).catch((error: Error) =>
    late(`not copied: ${error.message}; it is in the workspace`),
  );
  const time = after(sealTimes.copied - sealTimes.begin).then(() =>
    late("not copied completely in the time that was left; it is in the workspace"),
  );
  return Promise.race([copy, time]);
}

/** Records the end once. */
function recordEnd(
  { interventions, trajectory, iterations, progress }: Seal,
  { ending, final }: Omit<Sealed, "ran">,
): void {
  if (progress.endRecorded) return;
  interventions.close();
  trajectory.add({
    event: "end",
    ended: endedAs(ending),
    ...(ending?.kind === "scaffold" && { scaffold: ending.end }),
    ...(ending?.kind === "interrupted" && { why: ending.why }),
    iterations: iterations.count(),
    submissionDigest: final.kind === "taken" ? final.tree.digest : null,
  });
  progress.endRecorded = true;
}

type Sealed = {
  ran: SupervisedRun | undefined;
  ending: Ending | Interruption | undefined;
  final: SnapshotResult;
};

function writeLedger(
  { request, clock, meter, interventions, trajectory, tally, snapshots, gpuUse, replay, progress }: Seal,
  { ran, ending, final }: Sealed,
): Ledger {
  if (progress.ledger) return progress.ledger;
  const { outputs } = request;
  const wallMs = ran?.wallMs ?? Math.round(clock.sinceStart());
  const ledger = attemptLedger({
    budget: meter.limits(),
    interventions: interventions.sums(),
    wallMs,
    workingMs: ran?.workingMs ?? Math.round(clock.workingMs()),
    spending: meter.spending(),
    prices: request.prices?.used() ?? [],
    ending,
    final,
    team: tally?.ledger(),
    ...(request.earlier && { resumed: request.earlier.times + 1 }),
    trajectory: trajectory.seal(),
    network: request.network,
    replay,
    person: request.person?.desk.facts(),
    gpus: request.gpus?.length ?? 0,
    gpuBusyMs: gpuUse.busyMs(wallMs),
    gpuMemoryPeakMiB: gpuUse.memoryPeakMiB(),
  });
  writeReserved(snapshotsIndex(outputs), `${canonicalJson(snapshots.index(), 2)}\n`);
  writeReserved(outputs.ledger, `${canonicalJson(ledger, 2)}\n`);
  progress.ledger = ledger;
  return ledger;
}

/** Tries again as long as the disk is full: the agent is done, and only room is missing. */
function untilThereIsRoom({ request, pause = second }: Seal) {
  return async <T>(write: () => T | Promise<T>): Promise<T> => {
    for (let tries = 0; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (!isFullDisk(error)) throw error;
        if (tries === 0)
          console.error(
            `no space left on the disk; free some where ${request.outputs.trajectory} is. Waiting for it.`,
          );
        releaseReserved(request.outputs.trajectory);
        request.interrupted?.throwIfAborted();
        await pause(request.interrupted ?? never).catch(() => {});
      }
    }
  };
}

const never = new AbortController().signal;
const second = (signal: AbortSignal) => sleep(retryMs, undefined, { signal }).then(() => {});
