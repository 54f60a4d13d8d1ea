// Reads what an attempt whose supervisor or host died left on the disk, so that another supervisor continues it. The
// conversation is not stored apart: the scaffold runs again, and gets the answers and results that the trajectory
// holds (resume/tape.ts).
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Checkpoint } from "@mlrb/formats/attempt/checkpoint";
import type { LastSpending } from "@mlrb/formats/attempt/last-spending";
import type { SnapshotIndex } from "@mlrb/formats/attempt/snapshot-index";
import { type TrajectoryEvent, trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { checkFormat } from "@mlrb/formats/read-format";
import { lastSpending } from "@mlrb/kit/attempts/last-spending";
import { checkpointContents, leftCheckpoint } from "@mlrb/kit/attempts/left-checkpoint";
import { splitLines } from "@mlrb/kit/attempts/split-lines";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import type { Ending } from "../attempt/watch-program.ts";
import type { Numbered } from "../waiting/interventions.ts";
import { isTaped, type Taped } from "./tape.ts";

type ProgramEnding = Exclude<Ending, { kind: "scaffold" }>;
type KeptSnapshot = SnapshotIndex["snapshots"][number];
type StartEvent = Extract<TrajectoryEvent, { event: "start" }>;

export type EarlierAttempt = {
  start: StartEvent;
  /** The trajectory continues after this line. `timeMs`: of that line, by the clock of its host. */
  trajectory: { lines: number; head: string; bytes: number; timeMs: number };
  /** Of a last line that was cut off. */
  droppedBytes: number;
  /** Restarts before this one. */
  times: number;
  /** Where conversation and workspace continue: the lines and the answers up to there. */
  after: number;
  step: number;
  /** The files at that place, if the sandbox's own are gone. */
  restore?: { contents: string; checkpoint: Checkpoint };
  clock: { sinceStartMs: number; workingMs: number; creditedMs: number };
  spending: LastSpending | undefined;
  /** How its program had ended. */
  ending?: ProgramEnding;
  tape: Taped[];
  /** Of all calls, also those that were left behind. */
  calls: number;
  /** `gone`: taken after the place where the attempt continues. */
  snapshots: { kept: KeptSnapshot[]; dropped: KeptSnapshot[]; count: number; gone: string[] };
  iterations: { wellFormed: number; malformed: number };
  /** Also those after the place where the attempt continues: a person decided them. */
  interventions: Numbered[];
};

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
  /** The folder of the checkpoints, if the sandbox's files are gone. */
  checkpoints?: string;
};

/** A text says why the attempt cannot continue. A last line that was cut off is removed from the file. */
export async function readEarlier({
  trajectory: path,
  spending: meter,
  checkpoints,
}: EarlierFiles): Promise<EarlierAttempt | string> {
  const droppedBytes = dropCutLine(path);
  const check = await verifyTrajectory(path);
  if (check.kind === "broken") return `its trajectory is damaged at line ${check.line}: ${check.reason}`;
  const left = checkpoints === undefined ? undefined : leftCheckpoint(checkpoints);
  if (checkpoints !== undefined && !left)
    return "the files of its sandbox are gone, and it has no checkpoint";
  const reader = new EarlierReader(left?.checkpoint);
  let bytes = 0;
  for await (const line of splitLines(path)) {
    bytes += line.length + 1;
    reader.take(JSON.parse(line.toString()));
  }
  const found = reader.end(
    { lines: check.lines, head: check.head, bytes, droppedBytes },
    lastSpending(meter),
  );
  if (typeof found === "string" || !left) return found;
  return { ...found, restore: { contents: checkpointContents(checkpoints!), checkpoint: left.checkpoint } };
}

/** Removes what follows the last line feed. Returns its bytes. */
function dropCutLine(path: string): number {
  const file = openSync(path, "r+");
  try {
    const { size } = fstatSync(file);
    const piece = Buffer.alloc(1 << 16);
    for (let end = size; end > 0; ) {
      const from = Math.max(0, end - piece.length);
      readSync(file, piece, 0, end - from, from);
      const feed = piece.subarray(0, end - from).lastIndexOf(10);
      if (feed < 0) {
        end = from;
        continue;
      }
      const whole = from + feed + 1;
      if (whole < size) ftruncateSync(file, whole);
      return size - whole;
    }
    if (size > 0) ftruncateSync(file, 0);
    return size;
  } finally {
    closeSync(file);
  }
}

type Line = { index: number; time: string; sinceStartMs: number };
type Seen = { lines: number; head: string; bytes: number; droppedBytes: number };

class EarlierReader {
  #start: StartEvent | undefined;
  #tape: (Taped & Line)[] = [];
  #last: Line = { index: 0, time: "", sinceStartMs: 0 };
  #frozenMs = 0;
  #times = 0;
  #calls = 0;
  #kept: KeptSnapshot[] = [];
  readonly #dropped: KeptSnapshot[] = [];
  #snapshots = 0;
  #ending: ProgramEnding | undefined;
  #iterations: { index: number; wellFormed: boolean }[] = [];
  readonly #interventions: Numbered[] = [];
  readonly #checkpoint: Checkpoint | undefined;

  constructor(checkpoint: Checkpoint | undefined) {
    this.#checkpoint = checkpoint;
  }

  take(value: unknown): void {
    const reading = checkFormat(trajectoryEvent, value);
    this.#last = value as Line;
    if (reading.kind === "unreadable") return; // of a later version; a conversation has none of them
    const event = reading.value as TrajectoryEvent & Line;
    if (isTaped(event)) this.#tape.push(event);
    if (event.event === "model-call" || event.event === "model-try" || event.event === "model-request")
      this.#calls = Math.max(this.#calls, event.call);
    this.#takeState(event);
  }

  #takeState(event: TrajectoryEvent & Line): void {
    switch (event.event) {
      case "start":
        this.#start = event;
        break;
      case "exec":
        this.#ending = undefined;
        break;
      case "exec-end":
        this.#ending = event.result as ProgramEnding;
        break;
      case "wait":
        this.#frozenMs += event.frozenMs;
        break;
      case "resumed":
        this.#times = event.times;
        this.#frozenMs = event.sinceStartMs - event.workingMs;
        this.#backTo(event.after);
        break;
      case "iteration":
        this.#iterations.push({ index: event.index, wellFormed: event.wellFormed });
        break;
      case "snapshot":
        // a number is its folder; another name, of a hostile node, could be any folder of this host, which is removed
        // when the disk is full
        if (/^\d+$/.test(event.name)) this.#keep(event);
        break;
      case "snapshot-dropped":
        this.#drop(event.name);
        break;
      case "extended": {
        const { number, by, addedMs, addedDollars } = event;
        this.#interventions.push({ kind: "extend", number, by, addedMs, addedDollars });
      }
    }
  }

  #backTo(after: number): void {
    this.#tape = this.#tape.filter(({ index }) => index < after);
    this.#iterations = this.#iterations.filter(({ index }) => index < after);
  }

  #keep({
    name,
    digest,
    files,
    bytes,
    sinceStartMs,
  }: Extract<TrajectoryEvent, { event: "snapshot" }> & Line) {
    this.#kept.push({ name, digest, files, bytes, sinceStartMs: Math.max(0, sinceStartMs - this.#frozenMs) });
    this.#snapshots = Math.max(this.#snapshots, Number(name) || 0);
  }

  #drop(name: string): void {
    this.#dropped.push(...this.#kept.filter((one) => one.name === name));
    this.#kept = this.#kept.filter((one) => one.name !== name);
  }

  end({ droppedBytes, ...trajectory }: Seen, spending: LastSpending | undefined): EarlierAttempt | string {
    const start = this.#start;
    if (!start) return "its trajectory has no start";
    const back = this.#checkpoint;
    if (back) this.#backTo(back.after);
    const known = spending?.sinceStartMs ?? 0;
    const sinceStartMs = Math.max(this.#last.sinceStartMs, known);
    const frozenMs = spending?.sinceStartMs === undefined ? this.#frozenMs : known - spending.workingMs;
    const workedMs = Math.max(0, sinceStartMs - frozenMs);
    const workingMs = Math.round(Math.min(workedMs, back?.workingMs ?? workedMs)); // kept files hold what was worked
    const kept = this.#kept.filter((one) => !back || one.sinceStartMs <= back.workingMs);
    const gone = this.#kept.filter((one) => !kept.includes(one));
    const wellFormed = this.#iterations.filter((one) => one.wellFormed).length;
    return {
      start,
      trajectory: { ...trajectory, timeMs: Date.parse(this.#last.time) },
      ...{ droppedBytes, times: this.#times, after: back?.after ?? trajectory.lines },
      step: this.#tape.filter(({ event }) => event === "model-call").length,
      clock: { sinceStartMs, workingMs, creditedMs: Math.round(workedMs - workingMs) },
      ...{ spending, tape: this.#tape, calls: this.#calls },
      ...(this.#ending && !back && { ending: this.#ending }),
      snapshots: {
        ...{ kept, dropped: [...this.#dropped, ...gone], count: this.#snapshots },
        gone: gone.map(({ name }) => name),
      },
      iterations: { wellFormed, malformed: this.#iterations.length - wellFormed },
      interventions: this.#interventions,
    };
  }
}
