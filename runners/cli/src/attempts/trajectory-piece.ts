// Reads a piece of a whole trajectory for its page, or the events that contain a text. The file is read from its
// beginning each time and never held whole.
import type { LongText } from "@mlrb/formats/attempt/trajectory";
import type { AttemptSource, TrajectoryLine } from "@mlrb/report/exports/attempt-source";
import type { PageEvent } from "@mlrb/report/page/page-data";
import type { TrajectoryPiece } from "@mlrb/report/page/served-pages";
import { eventWords, factsWords } from "@mlrb/report/story/event-words";
import { pageTurn } from "@mlrb/report/story/page-turn";

/** Events on one page. */
const eventsMax = 200;
/** Longest text of an event, in characters; attachments are read up to as many bytes. */
const textMax = 64 << 10;

type Wanted = { from: number; find: string };

export function trajectoryPiece(
  { slot, lines: read, whole }: Pick<AttemptSource, "slot" | "lines" | "whole">,
  { from, find }: Wanted,
): TrajectoryPiece {
  const answered = new Set<string>();
  for (const line of read())
    if (line.kind === "event" && line.event.event === "tool-result") answered.add(line.event.id);
  const text = (long: LongText) => whole(long, textMax).text;
  const inputs = new Map<string, LongText>();
  const wanted = find.toLowerCase();
  const piece: TrajectoryPiece = {
    name: slot.stage,
    events: [],
    from,
    lines: 0,
    find,
    next: null,
    broken: null,
  };
  for (const line of read()) {
    if (line.kind === "broken") {
      piece.broken = line.why;
      break;
    }
    piece.lines++;
    if (line.kind === "event" && line.event.event === "tool-call") {
      inputs.set(line.event.id, line.event.input);
      if (answered.has(line.event.id)) continue; // it is shown with its result
    }
    if (line.index < from || piece.next !== null) continue;
    const event = eventOf(line, { inputs, text });
    if (wanted !== "" && !JSON.stringify(event).toLowerCase().includes(wanted)) continue;
    if (piece.events.length === eventsMax) piece.next = line.index;
    else piece.events.push(event);
  }
  return piece;
}

type Texts = { inputs: ReadonlyMap<string, LongText>; text: (long: LongText) => string };

function eventOf(line: Exclude<TrajectoryLine, { kind: "broken" }>, { inputs, text }: Texts): PageEvent {
  const place = { sinceStartMs: line.sinceStartMs, skippedBefore: false };
  if (line.kind === "other")
    return { ...place, event: line.name, text: factsWords(line.fields).slice(0, textMax) };
  const turn = pageTurn(line.event, inputs, text);
  const event = { ...place, event: line.event.event };
  return turn === undefined
    ? { ...event, text: eventWords(line.event).slice(0, textMax) }
    : { ...event, text: "", turn };
}
