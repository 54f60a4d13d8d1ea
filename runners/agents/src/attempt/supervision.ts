// What a supervisor holds while one attempt runs: the sandbox, the clock, the budget and the records.
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import { releaseReserved } from "@mlrb/kit/files/full-disk";
import type { AgentDownloads } from "../hub/agent-downloads.ts";
import { providerSilence } from "../model/provider-silence.ts";
import { attachmentsIn } from "../record/attachments.ts";
import { iterationsReader } from "../record/iterations-reader.ts";
import { outputLog } from "../record/output-log.ts";
import type { ReplayClock } from "../record/replay-clock.ts";
import { openTrajectory } from "../record/trajectory.ts";
import type { EarlierAttempt } from "../resume/earlier-attempt.ts";
import { RestorePointKeeper } from "../resume/restore-point-keeper.ts";
import type { BoardAccess } from "../scaffold/scaffold.ts";
import { TeamTally } from "../team/team-tally.ts";
import { Interventions } from "../waiting/interventions.ts";
import { AttemptClock } from "./attempt-clock.ts";
import { AttemptMeter } from "./attempt-meter.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { watchGpus } from "./gpu-use.ts";
import type { Meter } from "./meter.ts";
import { SnapshotKeeper } from "./snapshot-keeper.ts";
import { watchStopped } from "./stopped-time.ts";
import { deadlineWriter, inside } from "./workspace.ts";

/** `downloads` are open while programs run. */
export type Supervision = ReturnType<typeof openSupervision> & { downloads?: AgentDownloads };

/** What one agent needs of it: the only one, or a member of a team. */
export type AgentSupervision = Pick<
  Supervision,
  "request" | "sandbox" | "interventions" | "output" | "counts" | "silence" | "downloads"
> & {
  meter: Meter;
  trajectory: Pick<Supervision["trajectory"], "add">;
  /** Of a member of a team. */
  member?: { env: Record<string, string>; folder: string; board: BoardAccess };
};

/**
 * Starts the clock of the attempt, or continues it after a restart. The time without a supervisor does not count,
 * and by the clock of this host the deadline is as far ahead as working time is left.
 */
export function startClock(
  sandbox: Sandbox,
  before?: EarlierAttempt["clock"],
  replay?: ReplayClock,
): AttemptClock {
  if (replay)
    return new AttemptClock({
      ...{ sandbox, startedWall: Date.now() - replay.totalMs }, // its last times are not in the future
      sinceStart: () => replay.nowMs,
    });
  const { sinceStartMs, workingMs } = before ?? { sinceStartMs: 0, workingMs: 0 };
  const [startedWall, started] = [Date.now() - sinceStartMs, performance.now() - sinceStartMs];
  return new AttemptClock({
    ...{ sandbox, startedWall, frozenMs: sinceStartMs - workingMs },
    sinceStart: () => performance.now() - started,
    stopped: watchStopped(),
  });
}

/** Opens the records of an attempt whose clock runs. `closeSupervision` closes them. */
export function openSupervision(
  request: AttemptRequest,
  sandbox: Sandbox,
  { clock, replay }: { clock: AttemptClock; replay: ReplayClock | undefined },
) {
  const { outputs, budget, limits, redact = (text) => text, earlier } = request;
  const { sinceStart } = clock;
  const makeRoom = () => releaseReserved(outputs.trajectory);
  // the times of the lines never go back, whatever the clock of this host says
  const behindMs = Math.max(0, (earlier?.trajectory.timeMs ?? 0) - Date.now());
  const trajectory = openTrajectory(outputs.trajectory, {
    now: () => ({
      wall: replay ? clock.startedWall + replay.nowMs : Date.now() + behindMs,
      sinceStart: sinceStart(),
    }),
    ...(earlier && { earlier: earlier.trajectory }),
    redact,
    makeRoom,
    ...(outputs.attachments !== undefined && { attachments: attachmentsIn(outputs.attachments) }),
  });
  const write = trajectory.add;
  const interventions = new Interventions({
    ...{ file: request.interventions, earlier: earlier?.interventions ?? [], write },
  });
  const meter = new AttemptMeter({
    limits: budget,
    added: () => interventions.sums(),
    clock,
    makeRoom,
    ...(request.purse !== undefined && { cap: request.purse.cap }),
    ...(request.spending !== undefined && { file: request.spending }),
    ...(request.checkClaim && { checkClaim: request.checkClaim }),
    ...(earlier?.spending && { before: earlier.spending }),
    waited: ({ deadline, ...wait }) =>
      write({ event: "wait", ...wait, deadline: new Date(deadline).toISOString() }),
    moved: deadlineWriter(sandbox, request.scratch),
  });
  const snapshots = new SnapshotKeeper({
    sandbox,
    inside: inside.submission,
    folder: outputs.snapshots,
    limits,
    snapshotsMax: 40,
    bytesMax: 2 * limits.bytesMax,
    pauseMs: request.pauseMs ?? Math.max(1000, budget.timeMs / 100),
    budgetMs: budget.timeMs,
    ...(earlier && { earlier: earlier.snapshots }),
    write,
  });
  const gpuPauseMs = Math.min(15_000, Math.max(500, budget.timeMs / 500));
  const restorePoints =
    request.restorePoints === undefined
      ? undefined
      : new RestorePointKeeper({
          ...{ sandbox, folder: request.restorePoints, write },
          folders: [inside.workspace, "home", ...(request.team ? [inside.board] : [])],
          without: [inside.data, inside.models],
          pauseMs: request.restorePauseMs ?? restorePauseMs(budget.timeMs),
          now: () => ({ after: trajectory.seal().lines, workingMs: clock.workingMs() }),
        });
  return {
    ...{ request, sandbox, clock, meter, interventions, trajectory, snapshots, restorePoints },
    output: outputLog({ write, redact }),
    /** Of all model calls of the attempt: they have one series of numbers. */
    counts: { calls: earlier?.calls ?? 0, answered: earlier?.step ?? 0 },
    silence: providerSilence({ budgetMs: budget.timeMs }),
    /** What each member used. */
    tally: request.team && new TeamTally(request.team.members, earlier?.team ?? []),
    iterations: iterationsReader({
      ...{ sandbox, inside: inside.iterations, write, redact },
      ...(earlier && { earlier: earlier.iterations }),
    }),
    gpuUse: watchGpus(request.gpus ?? [], { now: sinceStart, pauseMs: gpuPauseMs }),
  };
}

/** A minute or a hundredth of the budget; in a short budget a twentieth. */
function restorePauseMs(budgetMs: number): number {
  return Math.max(Math.min(60_000, budgetMs / 20), budgetMs / 100);
}

export function closeSupervision({ gpuUse, meter, trajectory }: Supervision): void {
  gpuUse.stop();
  meter.close();
  trajectory.close();
}
