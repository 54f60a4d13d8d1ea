// From a trajectory, line by line, to what is known of the research in it: iterations, failures, measures. Pure;
// memory does not grow with the trajectory.

import type { IterationsFile } from "@mlrb/formats/attempt/iterations";
import { type TrajectoryEvent, trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { isTable } from "@mlrb/formats/is-table";
import { checkFormat } from "@mlrb/formats/read-format";
import { attemptFacts } from "./attempt-facts.ts";
import { failuresOf } from "./failure-rules.ts";
import { iterationFinder } from "./find-iterations.ts";
import { researchMeasures } from "./research-measures.ts";
import { type EventPlace, seenEvent } from "./timed-event.ts";

/** A snapshot that is kept, as admission judges it. */
export type JudgedSnapshot = { name: string; sinceStartMs: number; admitted: boolean };

export type ResearchReader = {
  /** A parsed line of the trajectory. Of one that is no event only the place counts, and of no object nothing. */
  take(line: unknown): void;
  /** An event that was checked before. */
  see(event: TrajectoryEvent, place: EventPlace): void;
  /**
   * `snapshots`: those that somebody judged, in order; undefined where nobody did. `final` is the submission. `endMs` is
   * when the agent ended: what its supervisor did after that, such as copying the submission, is no time of the attempt.
   */
  end(judged?: { snapshots: JudgedSnapshot[]; final: boolean; endMs: number }): IterationsFile;
};

export function researchReader(): ResearchReader {
  const finder = iterationFinder();
  const { facts, take } = attemptFacts();
  let firstFileMs: number | null = null;
  const see = (event: TrajectoryEvent | undefined, place: EventPlace) => {
    const seen = seenEvent(event, place);
    finder.take(seen);
    take(seen);
    if (seen.kind === "snapshot" && seen.files > 0) firstFileMs ??= seen.sinceStartMs;
  };
  return {
    see,
    take(line) {
      if (!isTable(line)) return;
      const reading = checkFormat(trajectoryEvent, line);
      see(reading.kind === "ok" ? reading.value : undefined, placeOf(line));
    },
    end(judged) {
      const { iterations, more, malformedLines } = finder.found();
      const known = new Map(judged?.snapshots.map(({ name, admitted }) => [name, admitted]));
      if (judged) known.set("final", judged.final);
      const failures = failuresOf({ facts, iterations, admitted: (name) => known.get(name) });
      const endMs = Math.min(facts.endMs, judged?.endMs ?? facts.endMs);
      const admittedMs = judged?.snapshots.find(({ admitted }) => admitted)?.sinceStartMs;
      const firstAdmitted =
        admittedMs === undefined ? (judged?.final ? endMs : null) : Math.min(admittedMs, endMs);
      return {
        formatVersion: 1,
        kind: "found",
        iterations,
        iterationsMore: more,
        malformedLines,
        failures,
        failure: failures[0] ?? null,
        measures: researchMeasures(
          iterations,
          judged
            ? { firstValidMs: firstAdmitted, firstValidBy: "admitted" }
            : { firstValidMs: firstFileMs, firstValidBy: "has-a-file" },
        ),
      };
    },
  };
}

function placeOf({ index, sinceStartMs, time }: Record<string, unknown>): EventPlace {
  return {
    index: typeof index === "number" ? index : 0,
    sinceStartMs: typeof sinceStartMs === "number" ? sinceStartMs : null,
    time: typeof time === "string" ? time : null,
  };
}

/** Of a whole trajectory at once. */
export function attemptIterations(lines: Iterable<unknown>): IterationsFile {
  const reader = researchReader();
  for (const line of lines) reader.take(line);
  return reader.end();
}
