// Reads a piece of a whole trajectory for its page, or the events that contain a text. The file is read from its
// beginning each time and never held whole.
import type { LongText, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { nestsDeeper } from "@mlrb/formats/nests-deeper";
import { readingLimits } from "@mlrb/kit/admission/reading-limits";
import type { AttemptSource, TrajectoryLine, WholeText } from "@mlrb/report/exports/attempt-source";
import type { PageEvent } from "@mlrb/report/page/page-data";
import type { TrajectoryPiece } from "@mlrb/report/page/served-pages";
import { eventWords, factsWords } from "@mlrb/report/story/event-words";
import { pageTurn } from "@mlrb/report/story/page-turn";

/** Events on one page. */
const eventsMax = 200;
/** Longest shown text of an event, in characters; attachments are read up to as many bytes. */
const textMax = 64 << 10;
/** A page ends after about so many characters. */
const pageMax = 4 << 20;
/** A longer text may be clipped in the words of an event. */
const wordsMax = 400;
/** As many bytes of an attachment are searched. */
const searchedMax = 16 << 20;
/** About as many characters of all attachments: the server answers nobody else, and no Ctrl-C, while it reads. */
const searchedTotalMax = 256 << 20;

type Wanted = { from: number; find: string };

export function trajectoryPiece(
  { slot, lines: read, whole }: Pick<AttemptSource, "slot" | "lines" | "whole">,
  { from, find }: Wanted,
): TrajectoryPiece {
  const answered = new Set<string>();
  for (const line of read())
    if (line.kind === "event" && line.event.event === "tool-result") answered.add(line.event.id);
  const inputs = new Map<string, LongText>();
  const wanted = find.toLowerCase();
  const piece: TrajectoryPiece = {
    name: slot.stage,
    events: [],
    from,
    lines: 0,
    find,
    next: null,
    unsearched: 0,
    broken: null,
  };
  let shown = 0;
  let room = searchedTotalMax;
  const searched: typeof whole = (text, bytesMax) => {
    if (typeof text !== "string" && room <= 0)
      return { text: text.head, missing: "too much was searched before it" };
    const found = whole(text, bytesMax);
    if (typeof text !== "string") room -= found.text.length;
    return found;
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
    const event = eventOf(line, { inputs, whole });
    if (wanted !== "" && !contains(event.turn ?? event, wanted)) {
      const search = searchOf(line, { inputs, whole: searched, wanted });
      if (search === "unsearched") piece.unsearched++;
      if (search !== "found") continue;
    }
    if (piece.events.length === eventsMax || shown >= pageMax) piece.next = line.index;
    else {
      piece.events.push(event);
      shown += JSON.stringify(event).length;
    }
  }
  return piece;
}

type Texts = Pick<AttemptSource, "whole"> & { inputs: ReadonlyMap<string, LongText> };
type Readable = Exclude<TrajectoryLine, { kind: "broken" }>;

function eventOf(line: Readable, { inputs, whole }: Texts): PageEvent {
  const place = { sinceStartMs: line.sinceStartMs, skippedBefore: false };
  const text = (long: LongText) => marked(whole(long, textMax));
  const cut = (words: string) => marked({ text: words, missing: null });
  if (line.kind === "other") return { ...place, event: line.name, text: cut(factsWords(line.fields)) };
  const turn = pageTurn(line.event, inputs, text);
  const event = { ...place, event: line.event.event };
  if (turn !== undefined) return { ...event, text: "", turn };
  const words = eventWords(line.event);
  const full = text(clippedIn(line.event));
  const isClipped = full.length > wordsMax && !words.includes(full);
  return { ...event, text: cut(isClipped ? `${words}\n${full}` : words) };
}

/** The text of an event that its words clip. */
function clippedIn(event: TrajectoryEvent): LongText {
  if (event.event === "tool-call") return event.input;
  return event.event === "note" || event.event === "request-part" ? event.text : "";
}

/** A text with a mark where something of it is left out. */
function marked({ text, missing }: WholeText): string {
  const more = text.length - textMax;
  const gaps = [more > 0 ? `${more} more characters are left out` : "", missing ?? ""];
  const words = gaps.filter((gap) => gap !== "").join("; ");
  return words === "" ? text : `${text.slice(0, textMax)}\n[… ${words}]`;
}

/** Whether an event that does not show `wanted` has it: in a part that is not shown, or behind a cut. */
function searchOf(
  line: Readable,
  { inputs, whole, wanted }: Texts & { wanted: string },
): "found" | "none" | "unsearched" {
  const value: unknown = line.kind === "other" ? line.fields : line.event;
  const input =
    line.kind === "event" && line.event.event === "tool-result" ? inputs.get(line.event.id) : undefined;
  let isWhole = true;
  const longText = (text: LongText) => {
    const read = whole(text, searchedMax);
    if (read.missing !== null) isWhole = false;
    return read.text;
  };
  if (contains([value, input], wanted, longText)) return "found";
  return isWhole ? "none" : "unsearched";
}

/** Whether a text in `value` at any depth contains `wanted`, also one in JSON that is itself a text. */
function contains(value: unknown, wanted: string, longText?: (text: LongText) => string): boolean {
  if (typeof value === "string") {
    if (value.toLowerCase().includes(wanted)) return true;
    const inner = jsonIn(value);
    return inner !== undefined && contains(inner, wanted);
  }
  if (typeof value !== "object" || value === null) return false;
  if (longText && isLongText(value)) return contains(longText(value), wanted);
  return Object.values(value).some((one) => contains(one, wanted, longText));
}

function isLongText(value: object): value is Exclude<LongText, string> {
  const { head, digest, bytes } = value as Record<string, unknown>;
  return typeof head === "string" && typeof digest === "string" && typeof bytes === "number";
}

/** The object or list that a text is in JSON. */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return nestsDeeper(value, readingLimits.jsonDepth.max) ? undefined : value;
  } catch {
    return undefined;
  }
}
