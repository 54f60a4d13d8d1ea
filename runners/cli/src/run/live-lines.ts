// What a terminal shows while a run goes on: how far it is, and each instance that runs with how long it has
// and the last that it said. No line is as wide as the terminal, so none wraps.
// Pure: no disk, no clock.

import type { TimeLeft } from "@mlrb/core/schedule/time-left";
import { displayWidth } from "@mlrb/core/text/display-width";
import { formatDuration } from "@mlrb/core/text/units";
import { clip } from "../show/clip.ts";
import { timeLeftText } from "./time-left-text.ts";

export type Going = {
  /** The stage instance. */
  id: string;
  forMs: number;
  /** What it took the last time. */
  expectedMs?: number | undefined;
  /** The last line of its output. */
  said?: string | undefined;
  /** What it waits for: shown in place of that. */
  waits?: string | undefined;
};

export type Now = {
  done: number;
  total: number;
  left: TimeLeft | undefined;
  /** What instances wait for that could start; empty where none does. */
  queued?: string | undefined;
  /** In the order in which they began. */
  going: Going[];
};

/** A terminal is there for more than this many lines of it. */
export const linesMax = 8;

/** With less room than this beside its name, what an instance says goes below it. */
const saidMin = 24;

/** Below this many columns what an instance is called is worth more than how long it took the last time. */
const narrow = 60;

export function liveLines(
  { done, total, left, going, queued = "" }: Now,
  { columns, rows }: { columns: number; rows: number },
): string[] {
  const width = Math.max(10, columns - 1);
  const waiting = going.filter(({ waits }) => waits !== undefined).length;
  const head = [
    `${done}/${total} done`,
    `${going.length} running`,
    waiting > 0 ? `${waiting} of them waiting` : "",
    queued,
    timeLeftText(left),
  ];
  const lines = [head.filter((part) => part !== "").join(", ")];
  // whoever reads wants to see some of what stays, too
  const room = Math.max(2, Math.min(linesMax, rows - 3)) - 1;
  const times = going
    .slice(0, room)
    .map((one) => (width < narrow ? timeWords({ ...one, expectedMs: undefined }) : timeWords(one)));
  const timesWidth = Math.max(0, ...times.map((text) => text.length));
  let shown = 0;
  for (const [at, { id, said: last, waits }] of going.slice(0, room).entries()) {
    const said = waits ?? last;
    const begin = `  ${times[at]!.padStart(timesWidth)}  `;
    const rest = width - displayWidth(begin + id) - 3;
    const beside = said && rest >= Math.min(saidMin, displayWidth(said));
    const own = [beside ? `${begin}${id} | ${clip(said, rest)}` : begin + id];
    if (said && !beside) own.push(`    | ${said}`);
    const others = going.length - shown - 1 > 0 ? 1 : 0;
    const free = room + 1 - lines.length;
    if (free < 1 + others) break;
    lines.push(...own.slice(0, free - others));
    shown++;
  }
  if (going.length > shown) lines.push(`  … and ${going.length - shown} more`);
  return lines.map((line) => clip(line, width));
}

/** `12 s of ~25 s`; without the second part where it never ran before. */
export function timeWords({ forMs, expectedMs }: Going): string {
  return `${elapsed(forMs)}${expectedMs ? ` of ~${formatDuration(expectedMs)}` : ""}`;
}

/** Whole seconds: a line that counts tenths only flickers. */
function elapsed(ms: number): string {
  return ms < 60_000 ? `${Math.floor(ms / 1000)} s` : formatDuration(ms);
}
