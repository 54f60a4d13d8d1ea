// The last things that an attempt writes: submission, the end of its trajectory, and the ledger that seals it. The
// ledger comes last: where it is, all of the attempt is.
import { setTimeout as sleep } from "node:timers/promises";
import type { SnapshotResult } from "@mlrb/core/sandbox";
import { isFullDisk, releaseReserved, writeReserved } from "@mlrb/kit/full-disk";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import type { Ledger } from "@mlrb/kit/rules/ledger";
import { attemptLedger, endedAs, type Interruption } from "./attempt-ledger.ts";
import type { AttemptMeter } from "./attempt-meter.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import type { GpuBusy } from "./gpu-busy.ts";
import { sealCopyMs } from "./interruption.ts";
import type { IterationsReader } from "./iterations-reader.ts";
import type { SnapshotKeeper } from "./snapshot-keeper.ts";
import type { Trajectory } from "./trajectory.ts";
import type { Ending } from "./watch-program.ts";

export type Seal = {
  request: AttemptRequest;
  budget: { timeMs: number; tokens?: number; dollars?: number };
  meter: AttemptMeter;
  trajectory: Trajectory;
  snapshots: SnapshotKeeper;
  iterations: Pick<IterationsReader, "count">;
  busy: GpuBusy;
  sinceStart(): number;
  /** Between two tries on a full disk; a second unless a test drives it. */
  pause?: (signal: AbortSignal) => Promise<void>;
};

type Ran = { ending: Ending; wallMs: number; workingMs: number };

/** Room for the last lines of the trajectory, and for the ledger, taken before anything is spent. */
export const reservedBytes = 256 << 10;
export const ledgerBytes = 64 << 10;
const retryMs = 1_000;

/** An attempt that came to its end: nothing was run where `ran` is undefined. Waits for room on a full disk. */
export async function sealEnded(seal: Seal, ran: Ran | undefined): Promise<Ledger> {
  const { request, trajectory, snapshots } = seal;
  const { outputs } = request;
  const patiently = untilThereIsRoom(seal);
  const final = await patiently(() => snapshots.final(outputs.submission));
  await patiently(() =>
    trajectory.add({
      event: "end",
      ended: endedAs(ran?.ending),
      ...(ran?.ending.kind === "scaffold" && { scaffold: ran.ending.end }),
      iterations: seal.iterations.count(),
      submissionDigest: final.kind === "taken" ? final.tree.digest : null,
    }),
  );
  return patiently(() => writeLedger(seal, { ran, ending: ran?.ending, final }));
}

/**
 * An attempt that something outside of it ended, for `reason`. Never throws and takes little time: whoever ended it
 * may not grant more. What cannot be written any more is in the workspace, which is kept.
 */
export async function sealInterrupted(seal: Seal, reason: unknown): Promise<void> {
  const { request, trajectory } = seal;
  const why = reason instanceof Error ? reason.message : String(reason);
  releaseReserved(request.outputs.trajectory);
  const ending = { kind: "interrupted", why } as const;
  const final = await submissionInTime(seal);
  const submissionDigest = final.kind === "taken" ? final.tree.digest : null;
  for (const write of [
    () =>
      trajectory.add({
        event: "end",
        ended: endedAs(ending),
        why,
        iterations: seal.iterations.count(),
        submissionDigest,
      }),
    () => void writeLedger(seal, { ran: undefined, ending, final }),
  ])
    try {
      write();
    } catch (error) {
      console.error(`the attempt is not sealed: ${(error as Error).message}`);
    }
}

/** As it stands now, if the copy takes no longer than there is time for; the workspace is kept in any case. */
async function submissionInTime({ request, snapshots }: Seal): Promise<SnapshotResult> {
  const late = (detail: string): SnapshotResult => ({ kind: "over-limits", state: "", detail });
  const copy = snapshots
    .final(request.outputs.submission)
    .catch((error: Error) => late(`not copied: ${error.message}; it is in the workspace`));
  const time = sleep(sealCopyMs, undefined, { ref: false }).then(() =>
    late("not copied whole in the time there was; it is in the workspace"),
  );
  return Promise.race([copy, time]);
}

type Sealed = { ran: Ran | undefined; ending: Ending | Interruption | undefined; final: SnapshotResult };

function writeLedger(
  { request, budget, meter, trajectory, snapshots, busy, sinceStart }: Seal,
  { ran, ending, final }: Sealed,
): Ledger {
  const { outputs } = request;
  const wallMs = ran?.wallMs ?? Math.round(sinceStart());
  const ledger = attemptLedger({
    budget,
    wallMs,
    workingMs: ran?.workingMs ?? Math.round(meter.workingMs()),
    spending: meter.spending(),
    ending,
    final,
    trajectory: trajectory.seal(),
    gpus: request.gpus?.length ?? 0,
    gpuBusyMs: busy.busyMs(wallMs),
  });
  writeWhole(`${outputs.snapshots}/index.json`, `${canonicalJson(snapshots.index(), 2)}\n`);
  writeReserved(outputs.ledger, `${canonicalJson(ledger, 2)}\n`);
  return ledger;
}

/** Tries again for as long as the disk is full: the agent is done, and all that is missing is room. */
function untilThereIsRoom({ request, pause = second }: Seal) {
  return async <T>(write: () => T | Promise<T>): Promise<T> => {
    for (let tries = 0; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (!isFullDisk(error)) throw error;
        if (tries === 0)
          console.error(
            `no space left on the disk; free some where ${request.outputs.trajectory} lies: waiting for it`,
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
