// Reads the research in a trajectory line by line: iterations, how it ended, measures. Pure; memory does not grow
// with the trajectory.

import { createHash } from "node:crypto";
import type { IterationRecord, IterationsFile } from "@mlrb/formats/attempt/iterations";
import { type TrajectoryEvent, trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { isTable } from "@mlrb/formats/is-table";
import { checkFormat } from "@mlrb/formats/read-format";
import { textOf } from "./agent-line.ts";
import { attemptEnds, FactsReader } from "./attempt-facts.ts";
import { BenchmarkCallCounter } from "./benchmark-calls.ts";
import { IterationFinder, iterationsMax } from "./find-iterations.ts";
import { researchMeasures } from "./research-measures.ts";
import { TimeSpentReader } from "./time-spent.ts";
import { type EventPlace, type TimedEvent, TimedEvents } from "./timed-event.ts";

/** A snapshot that is kept, with the verdict of admission. */
export type JudgedSnapshot = { name: string; digest: string; sinceStartMs: number; admitted: boolean };

/** The verdicts of admission: on the kept snapshots, in order, and on the submission. */
type Judged = {
  snapshots: JudgedSnapshot[];
  final: boolean;
  /** When the agent ended. The supervisor's work after it, such as copying the submission, is not counted. */
  endMs: number;
  /** The limit of its sandbox that it reached, by its ledger. */
  over: string | undefined;
};

/** A preset has at most 8; a damaged trajectory may name any number. */
const membersMax = 20;

export class ResearchReader {
  readonly #events = new TimedEvents();
  /** Of the whole attempt, as if one agent had made it. */
  readonly #finder = new IterationFinder();
  /** Of each member of a team whose tool calls are seen, with the events of no member, such as snapshots. */
  readonly #members = new Map<string, IterationFinder>();
  readonly #reader = new FactsReader();
  readonly #time = new TimeSpentReader();
  readonly #actions = createHash("sha256");
  readonly #benchmark: BenchmarkCallCounter | undefined;
  #acted = false;
  #firstFileMs: number | null = null;

  /** `publicNames` of the task's benchmark; without them, no calls that name it are counted. */
  constructor(publicNames?: readonly string[]) {
    this.#benchmark = publicNames && new BenchmarkCallCounter(publicNames);
  }

  /** Takes a parsed line. A table that is not an event counts by its place only; anything else is ignored. */
  take(line: unknown): void {
    if (!isTable(line)) return;
    const reading = checkFormat(trajectoryEvent, line);
    this.see(reading.kind === "ok" ? reading.value : undefined, placeOf(line));
  }

  /** Takes an event that was checked before. */
  see(event: TrajectoryEvent | undefined, place: EventPlace): void {
    const seen = this.#events.next(event, place);
    this.#finder.take(seen);
    this.#takeMember(seen);
    this.#reader.take(seen);
    this.#time.take(seen);
    if (event) this.#benchmark?.take(event);
    if (event?.event === "tool-call") {
      const { member, by, name, input } = event;
      this.#actions.update(
        `${JSON.stringify([by, name, input, ...(member === undefined ? [] : [member])])}\n`,
      );
      this.#acted = true;
    }
    if (event?.event === "snapshot" && event.files > 0) this.#firstFileMs ??= seen.sinceStartMs;
  }

  #takeMember(seen: TimedEvent): void {
    const { event: name, member } = seen.event ?? {};
    if (member === undefined && name !== "iteration")
      for (const one of this.#members.values()) one.take(seen);
    else if (member !== undefined && (this.#members.has(member) || this.#members.size < membersMax))
      this.#members.getOrInsertComputed(member, () => new IterationFinder()).take(seen);
  }

  /**
   * Members work at the same time, so an iteration is made of the events of one member. Not where programs write lines
   * to the file of the whole team, which name no member, nor where only its submissions show what changed: then the
   * team is read as one agent, and nothing counts twice.
   */
  #found(): ReturnType<IterationFinder["end"]> {
    const whole = this.#finder.end();
    if (whole.unsigned > 0) return whole;
    const callers = [...this.#members].filter(([member]) => this.#reader.facts.callers.has(member));
    let more = 0;
    const iterations = callers.flatMap(([member, finder]) => {
      const own = finder.end();
      more += own.more;
      return own.iterations.map((one) => ofMember(textOf(member, 80) ?? "unnamed", one));
    });
    if (iterations.length === 0) return whole;
    iterations.sort((a, b) => a.events[1] - b.events[1]);
    more += Math.max(0, iterations.length - iterationsMax);
    return { ...whole, iterations: iterations.slice(0, iterationsMax), more };
  }

  /** Call once, after the last event. `judged` is undefined where no admission was run. */
  end(judged?: Judged): IterationsFile {
    const { facts } = this.#reader;
    const { iterations, more, malformedLines } = this.#found();
    if (judged?.over) facts.limits.add(judged.over);
    return {
      formatVersion: 1,
      kind: "found",
      actions: this.#acted ? this.#actions.digest("hex") : null,
      iterations,
      iterationsMore: more,
      malformedLines,
      ends: attemptEnds(facts, judged?.final),
      measures: {
        ...researchMeasures(
          iterations,
          judged
            ? {
                firstValidMs: firstAdmittedMs(judged, facts.endMs),
                firstValidBy: "admitted",
                distinctValid: distinctAdmitted(judged, facts.final?.digest),
              }
            : { firstValidMs: this.#firstFileMs, firstValidBy: "has-a-file", distinctValid: null },
          facts,
        ),
        timeSpent: this.#time.end(),
        ...(this.#benchmark && { benchmarkCalls: this.#benchmark.end() }),
      },
    };
  }
}

function firstAdmittedMs({ snapshots, final, endMs }: Judged, lastEventMs: number): number | null {
  const end = Math.min(lastEventMs, endMs);
  const first = snapshots.find(({ admitted }) => admitted)?.sinceStartMs;
  if (first !== undefined) return Math.min(first, end);
  return final ? end : null;
}

function ofMember(member: string, one: IterationRecord): IterationRecord {
  const parent = one.parent === null ? null : `${member}/${one.parent}`;
  return { ...one, id: `${member}/${one.id}`, member, parent };
}

/** Of the kept snapshots and the submission, by the digest of the folder. */
function distinctAdmitted({ snapshots, final }: Judged, finalDigest: string | undefined): number {
  const admitted = snapshots.filter((snapshot) => snapshot.admitted).map(({ digest }) => digest);
  return new Set(final ? [...admitted, finalDigest ?? "final"] : admitted).size;
}

function placeOf({ index, sinceStartMs, time }: Record<string, unknown>): EventPlace {
  return {
    index: typeof index === "number" ? index : 0,
    sinceStartMs: typeof sinceStartMs === "number" ? sinceStartMs : null,
    time: typeof time === "string" ? time : null,
  };
}
