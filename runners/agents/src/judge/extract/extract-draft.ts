// Collects the events of an extract in bounded memory and fits them into its limits. No attempt may push out what
// it did by noise. So events fit in the order of `ranks`, where each rank gets at least half of the room that is
// left. Within a rank, long texts are cut first, to their beginning and end. Only where that is not enough, events
// between its first and its last ones are left out.
import { terminalSafe } from "@mlrb/core/text/terminal-safe";
import type { Extract, ExtractEvent } from "@mlrb/formats/judged/extract";
import * as t from "@mlrb/formats/schema";

type Kind = ExtractEvent["kind"];
/** `missing`: characters that are left out in the middle of the text. `line`: of the trajectory, from 0. */
type Piece = { kind: Kind; order: number; line: number; text: string; missing: number };
export type ExtractDraft = ReturnType<typeof extractDraft>;

/** Of all events together without measurements, and of one. */
export const extractLimits = t.wholeObject({
  characters: t.positiveInteger,
  eventCharacters: t.positiveInteger,
});
export type ExtractLimits = t.TypeOf<typeof extractLimits>;

const ranks: Kind[][] = [["prompt"], ["call"], ["result"], ["message", "note", "file"], ["reasoning"]];
/** Shorter texts are not cut: rather their rank loses events. */
const cutMin = 400;
/** What an event takes besides its text, so that a million empty ones do not fit. */
const eventSize = 60;

/** `clean`: removes names from a readable text. */
export function extractDraft(limits: ExtractLimits, clean: (text: string) => string) {
  const { characters, eventCharacters: max } = limits;
  const leftOut = { events: 0, characters: 0 };
  let [pieces, added] = [[] as Piece[], 0];

  function add(kind: Kind, text: string, line = -1): void {
    // a long text is cut before it is cleaned too, which may take ten times its length
    const near = text.length > 8 * max ? text.slice(0, 4 * max) + text.slice(-4 * max) : text;
    const whole = { text: clean(readable(near)), missing: text.length - near.length };
    pieces.push(cut({ kind, order: added++, line, ...whole }, max));
    if (pieces.length % 500 === 0 && sizeOf(pieces) > 16 * characters) fit(8 * characters);
  }

  function fit(room: number): void {
    let [left, kept, others] = [room, [] as Piece[], pieces];
    for (const kinds of ranks) {
      let own = others.filter(({ kind }) => kinds.includes(kind));
      others = others.filter(({ kind }) => !kinds.includes(kind));
      const share = Math.max(left / 2, left - sizeOf(others));
      for (let most = max; most > cutMin && sizeOf(own) > share; most *= 0.8)
        own = own.map((piece) => cut(piece, most));
      while (sizeOf(own) > share)
        for (const { text, missing } of own.splice(0.45 * own.length, 0.1 * own.length + 1)) {
          leftOut.events++;
          leftOut.characters += text.length + missing;
        }
      left -= sizeOf(own);
      kept = kept.concat(own);
    }
    pieces = kept.sort((a, b) => a.order - b.order);
  }

  /** `what` is not in the extract, in words. */
  function leaveOut(what: string): void {
    leftOut.events++;
    add("note", `Not in this extract: ${what}.`);
  }

  /** `measure` names events by their numbers; a line of the trajectory has none or several. */
  function extract(measure: (eventsOf: (line: number) => number[]) => string[] = () => []): Extract {
    fit(characters);
    if (leftOut.events > 0) add("note", `Of this attempt, ${leftOut.events} events are not shown.`);
    const lines = Map.groupBy(pieces.keys(), (at) => pieces[at]!.line);
    const measured = measure((line) => (lines.get(line) ?? []).map((at) => at + 1));
    for (const text of measured) add("measurement", text);
    for (const { missing } of pieces) leftOut.characters += missing;
    const events = pieces.map((one, at) => ({ number: at + 1, kind: one.kind, text: shown(one) }));
    return { formatVersion: 1, events, leftOut };
  }

  return { add, leaveOut, extract };
}

function cut(piece: Piece, max: number): Piece {
  const { text, missing } = piece;
  const half = Math.floor(max / 2);
  if (text.length <= max) return piece;
  const ends = text.slice(0, half) + text.slice(-half);
  return { ...piece, text: ends, missing: missing + text.length - ends.length };
}

/** A cut text is two halves. */
function shown({ text, missing }: Piece): string {
  const half = text.length / 2;
  const gap = `\n[… ${missing} characters are left out …]\n`;
  return missing === 0 ? text : (text.slice(0, half) + gap + text.slice(half)).toWellFormed();
}

function sizeOf(pieces: Piece[]): number {
  return pieces.reduce((all, { text }) => all + text.length + eventSize, 0);
}

/** What hides a text or changes the order in which it is read is spelt out. */
function readable(text: string): string {
  const hidden = /[\p{Co}\p{Default_Ignorable_Code_Point}]/gu;
  return terminalSafe(text).replace(hidden, (odd) => `\\u{${odd.codePointAt(0)!.toString(16)}}`);
}
