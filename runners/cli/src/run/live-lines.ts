// The live lines of a run on a terminal: progress, and each running instance with its duration and its last output
// line. Every line is narrower than the terminal, so none wraps.
// Pure: no disk, no clock.

import { styleText } from "node:util";
import { type TimeLeft, timeWords } from "@mlrb/core/schedule/time-left";
import { displayWidth } from "@mlrb/core/text/display-width";
import { formatDuration } from "@mlrb/core/text/units";
import { clip } from "../show/clip.ts";
import { oneLine } from "../show/print.ts";
import { shortName } from "./permanent-lines.ts";

export type Going = {
  /** The stage instance, or its group. */
  id: string;
  /** Which stage of its group runs. */
  stage?: string | undefined;
  forMs: number;
  /** Its last duration. */
  expectedMs?: number | undefined;
  /** The last line of its output. */
  said?: string | undefined;
  /** What it waits for; shown instead of its output. */
  waits?: string | undefined;
  /** The money that an attempt has spent. */
  spent?: string | undefined;
};

export type Now = {
  done: number;
  /** Of those that have ended. */
  failed?: number;
  total: number;
  left: TimeLeft | undefined;
  /** What instances that could start wait for; empty if none waits. */
  queued?: string | undefined;
  /** What attempts have spent; empty if nothing. */
  spent?: string | undefined;
  /** In the order of their start. */
  going: Going[];
};

/** The live lines take no more of a terminal than this. */
export const linesMax = 8;

/** With fewer columns left after an instance's name, its output goes on the next line. */
const saidMin = 24;

/** Instances that a pipe's line names. */
const namedMax = 3;

/** On fewer columns the expected duration is left out in favour of the name. */
const narrow = 60;

const barWidth = 20;

/** `██████░░░░`: full only when all are done. */
function bar(done: number, total: number): string {
  const full = total === 0 ? 0 : Math.floor((done / total) * barWidth);
  return "█".repeat(full) + "░".repeat(barWidth - full);
}

/** Progress, money and time; on two lines only where one is too narrow. */
function headLines(
  { done, failed = 0, total, left, going, queued = "", spent = "" }: Now,
  width: number,
): string[] {
  const waiting = going.filter(({ waits }) => waits !== undefined).length;
  const words = (parts: string[]) => parts.filter((part) => part !== "").join(", ");
  const counts = [
    `${done}/${total} done`,
    failed > 0 ? `${failed} failed` : "",
    `${going.length} running`,
    waiting > 0 ? `${waiting} of them waiting` : "",
  ];
  const rest = [queued, spent, timeLeftText(left)];
  const all = words([...counts, ...rest]);
  const barred = `${bar(done, total)} ${all}`;
  if (width >= narrow && displayWidth(barred) <= width) return [barred];
  return displayWidth(all) <= width || words(rest) === "" ? [all] : [words(counts), `  ${words(rest)}`];
}

export function liveLines(
  now: Now,
  { columns, rows, color = false }: { columns: number; rows: number; color?: boolean },
): string[] {
  const { going } = now;
  const width = Math.max(10, columns - 1);
  // leave room for some permanent lines
  const most = Math.max(2, Math.min(linesMax, rows - 3));
  const heads = headLines(now, width).slice(0, most - 1);
  const lines = [...heads];
  const room = most - heads.length;
  const times = going
    .slice(0, room)
    .map((one) => (width < narrow ? elapsedWords({ ...one, expectedMs: undefined }) : elapsedWords(one)));
  const timesWidth = Math.max(0, ...times.map((text) => text.length));
  let shown = 0;
  for (const [at, one] of going.slice(0, room).entries()) {
    const said = oneLine([one.stage, one.waits ?? one.said].filter(Boolean).join(": "));
    const begin = `  ${times[at]!.padStart(timesWidth)}  `;
    const id = displayWidth(begin + one.id) <= width ? one.id : shortName(one.id);
    const rest = width - displayWidth(begin + id) - 3;
    const fits = said !== "" && rest >= Math.min(saidMin, displayWidth(said));
    const own = [fits ? `${begin}${id} | ${clip(said, rest)}` : begin + id];
    if (said !== "" && !fits) own.push(`    | ${said}`);
    const others = going.length - shown - 1 > 0 ? 1 : 0;
    const free = most - lines.length;
    if (free < 1 + others) break;
    lines.push(...own.slice(0, free - others));
    shown++;
  }
  if (going.length > shown) lines.push(`  … and ${going.length - shown} more`);
  // a line break would move the block, and a control sequence of a provider would reach the terminal
  const clipped = lines.map((line) => clip(oneLine(line), width));
  return clipped.map((line, at) => (color && at < heads.length ? painted(line) : line));
}

function painted(head: string): string {
  return head.replace(/\b\d+ failed\b/, (words) => styleText("red", words, { validateStream: false }));
}

/** `12 s of ~25 s, 0.40 dollars`; without the parts that are not known. */
function elapsedWords({ forMs, expectedMs, spent }: Going): string {
  const whole = expectedMs ? formatDuration(expectedMs) : "";
  const of = whole === "" ? "" : forMs <= expectedMs! ? ` of ~${whole}` : ` (last ${whole})`;
  return `${elapsed(forMs)}${of}${spent ? `, ${spent}` : ""}`;
}

/** Whole seconds: counting tenths would only flicker. */
function elapsed(ms: number): string {
  return ms < 60_000 ? `${Math.floor(ms / 1000)} s` : formatDuration(ms);
}

/** Empty without an estimate, or with an end that is due. */
function timeLeftText(left: TimeLeft | undefined): string {
  return !left || left.ms < 1000 ? "" : `${timeWords(left)} left`;
}

/** The line that a pipe gets when nothing has ended for a while; undefined if nothing is running. */
export function runningLine({
  going,
  left,
  queued = "",
  spent = "",
}: Omit<Now, "done" | "total">): string | undefined {
  if (going.length === 0) return undefined;
  const named = going
    .slice(0, namedMax)
    .map((one) => `${one.id} ${elapsedWords(one)}${one.waits ? ` (${one.waits})` : ""}`);
  if (going.length > namedMax) named.push(`${going.length - namedMax} more`);
  const words = [queued, spent, timeLeftText(left)].filter((part) => part !== "").map((part) => `; ${part}`);
  return `running ${named.join(", ")}${words.join("")}`;
}
