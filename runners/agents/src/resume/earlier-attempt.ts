// Reads what an attempt whose supervisor or host died left on the disk, so that another supervisor continues it.
// The conversation is not stored apart: the scaffold runs again, and gets the answers and results that the
// trajectory holds (resume/tape.ts).
import { existsSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type TrajectoryEvent, trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { checkFormat } from "@mlrb/formats/read-format";
import { lastSpending } from "@mlrb/kit/attempts/last-spending";
import { leftBehind } from "@mlrb/kit/attempts/left-behind";
import { leftRestorePoint, restorePointContents } from "@mlrb/kit/attempts/left-restore-point";
import { splitLines } from "@mlrb/kit/attempts/split-lines";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { readFrom } from "@mlrb/kit/files/read-from";
import type { Ending } from "../attempt/watch-program.ts";
import type { Numbered } from "../waiting/interventions.ts";
import { isTaped } from "./tape.ts";

type ProgramEnding = Exclude<Ending, { kind: "scaffold" }>;

export type EarlierAttempt = Exclude<Awaited<ReturnType<typeof readEarlier>>, string>;

/** Without snapshots whose folders are gone: the disk lost them. */
export function withoutLostSnapshots(earlier: EarlierAttempt, folder: string): EarlierAttempt {
  const { kept, dropped, gone, ...rest } = earlier.snapshots;
  const lost = kept.filter(({ name }) => !existsSync(join(folder, name)));
  const snapshots = {
    ...rest,
    kept: kept.filter((one) => !lost.includes(one)),
    dropped: [...dropped, ...lost],
    gone: [...gone, ...lost.map(({ name }) => name)],
  };
  return { ...earlier, snapshots };
}

export type EarlierFiles = {
  trajectory: string;
  spending: string;
  /** The folder of the restore points, if the sandbox's files are gone. */
  restorePoints?: string;
};

/** A text says why the attempt cannot continue. A last line that was cut off is removed from the file. */
export async function readEarlier({ trajectory: path, spending: meter, restorePoints }: EarlierFiles) {
  const droppedBytes = dropCutLine(path);
  const check = await verifyTrajectory(path);
  if (check.kind === "broken") return `its trajectory is damaged at line ${check.line}: ${check.reason}`;
  const left = restorePoints === undefined ? undefined : leftRestorePoint(restorePoints);
  if (restorePoints !== undefined && !left)
    return "the files of its sandbox are gone, and it has no restore point";
  const { events, calls, last, bytes } = await readEvents(path);
  const named = <Name extends TrajectoryEvent["event"]>(name: Name) =>
    events.filter((event): event is Extract<Recorded, { event: Name }> => event.event === name);
  const start = named("start").at(-1);
  if (!start) return "its trajectory has no start";
  const back = left?.restorePoint;
  const isLeftBehind = await leftBehind(path);
  const counts = ({ index }: Line) => !isLeftBehind(index) && (!back || index < back.after);
  const counted = events.filter(counts);
  const tape = counted.filter(isTaped);
  const iterations = named("iteration").filter(counts);
  const wellFormed = iterations.filter((one) => one.wellFormed).length;

  const [restarts, waits] = [named("resumed"), named("wait")];
  const frozenUntil = (index: number) => {
    const restart = restarts.findLast((one) => one.index <= index);
    const since = waits.filter((one) => one.index <= index && one.index > (restart?.index ?? -1));
    const before = restart ? restart.sinceStartMs - restart.workingMs : 0;
    return since.reduce((sum, { frozenMs }) => sum + frozenMs, before);
  };
  const spending = lastSpending(meter);
  const known = spending?.sinceStartMs;
  const sinceStartMs = Math.max(last.sinceStartMs, known ?? 0);
  const frozenMs = known === undefined ? frozenUntil(last.index) : known - spending!.workingMs;
  const workedMs = Math.max(0, sinceStartMs - frozenMs);
  const workingMs = Math.round(Math.min(workedMs, back?.workingMs ?? workedMs)); // kept files hold what was worked

  // a number is its folder; another name, of a hostile node, could be any folder of this host, which is removed
  // when the disk is full
  const taken = named("snapshot").flatMap(({ name, digest, files, bytes, sinceStartMs, index }) => {
    const atMs = Math.max(0, sinceStartMs - frozenUntil(index));
    return /^\d+$/.test(name) ? [{ name, digest, files, bytes, sinceStartMs: atMs }] : [];
  });
  const droppedNames = new Set(named("snapshot-dropped").map(({ name }) => name));
  const dropped = [...droppedNames].flatMap((name) => taken.filter((one) => one.name === name));
  const there = taken.filter(({ name }) => !droppedNames.has(name));
  const gone = there.filter((one) => back && one.sinceStartMs > back.workingMs);

  const person = named("person").at(-1);
  const program = events.findLast(({ event }) => event === "exec" || event === "exec-end");
  return {
    start,
    /** The trajectory continues after this line. `timeMs`: of that line, by the clock of its host. */
    trajectory: { lines: check.lines, head: check.head, bytes, timeMs: Date.parse(last.time) },
    /** Of a last line that was cut off. */
    droppedBytes,
    /** Restarts before this one. */
    times: restarts.at(-1)?.times ?? 0,
    /** Where conversation and workspace continue: the lines and the answers up to there. */
    after: back?.after ?? check.lines,
    step: tape.filter(({ event }) => event === "model-call").length,
    clock: { sinceStartMs, workingMs, creditedMs: Math.round(workedMs - workingMs) },
    /** `calls`: of all, also those that were left behind. */
    ...{ spending, tape, calls, counted },
    /** Of the members of a team, as far as they were paid or count. */
    team: events.filter(
      (event) => event.member !== undefined && (event.event !== "member-end" || counts(event)),
    ),
    /** Who works on it, if it is a person. */
    ...(person && { person: person.person }),
    /** How its program had ended. */
    ...(program?.event === "exec-end" && !back && { ending: program.result as ProgramEnding }),
    snapshots: {
      kept: there.filter((one) => !gone.includes(one)),
      dropped: [...dropped, ...gone],
      count: Math.max(0, ...taken.map(({ name }) => Number(name))),
      /** Taken after the place where the attempt continues. */
      gone: gone.map(({ name }) => name),
    },
    iterations: { wellFormed, malformed: iterations.length - wellFormed },
    /** Also those after the place where the attempt continues: a person decided them. */
    interventions: named("extended").map(
      ({ number, by, addedMs, addedDollars }): Numbered => ({
        kind: "extend",
        number,
        by,
        addedMs,
        addedDollars,
      }),
    ),
    /** The files at that place, if the sandbox's own are gone. */
    ...(back && { restore: { contents: restorePointContents(restorePoints!), restorePoint: back } }),
  };
}

/** No line is longer: long texts are attachments. */
const lineMost = 64 << 20;

/** Removes what follows the last line feed. Returns its bytes. */
function dropCutLine(path: string): number {
  const { size } = statSync(path);
  const from = Math.max(0, size - lineMost);
  const whole = from + readFrom(path, from)!.lastIndexOf(10) + 1;
  if (whole < size) truncateSync(path, whole);
  return size - whole;
}

type Line = { index: number; time: string; sinceStartMs: number };
type Recorded = TrajectoryEvent & Line;

const unread = ["output", "request-part", "model-request"];

/** The events that say how the attempt stands: not what programs printed, which may be much. */
async function readEvents(path: string) {
  const events: Recorded[] = [];
  let last: Line = { index: 0, time: "", sinceStartMs: 0 };
  let [bytes, calls] = [0, 0];
  for await (const line of splitLines(path)) {
    bytes += line.length + 1;
    const value: unknown = JSON.parse(line.toString());
    last = value as Line;
    const reading = checkFormat(trajectoryEvent, value);
    if (reading.kind === "unreadable") continue; // of a later version; a conversation has none of them
    const event = reading.value as Recorded;
    if (event.event === "model-call" || event.event === "model-try" || event.event === "model-request")
      calls = Math.max(calls, event.call);
    if (!unread.includes(event.event)) events.push(event);
  }
  return { events, calls, last, bytes };
}
