// The last lines of a run: how it ended, what failed first and why, what the scores cover, where the results are,
// what to do next. After a success these are at most eight lines; in any case they fit a screen. Pure: no disk, no
// clock.

import type { OutcomeKind } from "@mlrb/core/ports/outcome";
import { displayWidth } from "@mlrb/core/text/display-width";
import { formatDuration } from "@mlrb/core/text/units";
import { wrap } from "@mlrb/report/formats/terminal-text";
import type { Trouble } from "../attempts/troubles.ts";
import { typedProgram } from "../request/typed-program.ts";
import { clip } from "../show/clip.ts";
import { oneLine } from "../show/print.ts";
import type { NextStep } from "./next-steps.ts";

export type Failure = {
  /** The stage instance. */
  stage: string;
  cause: string;
  /** The last lines of its output. */
  said: string[];
  /** The command that prints all of its output. */
  command: string;
};

export type Closing = {
  pipeline: string;
  profile: string;
  counts: Record<OutcomeKind, number>;
  durationMs: number;
  /** In plan order. */
  failures: Failure[];
  /** What the machine or a provider made fail, or waits for a person. */
  troubles?: Trouble[];
  /** How much of the plan the report covers; undefined without a report. */
  coverage?: string | undefined;
  /** How scores of unchanged submissions changed; undefined if none did. */
  rescored?: string | undefined;
  cost?: string | undefined;
  /** How long its services ran, a line each. */
  services?: string[];
  /** The folder of the published results, as a path to type. */
  results?: string | undefined;
  next: NextStep[];
};

/** How many output lines each shown failure has; the first list that fits is used. */
const shapes = [[3, 1, 1], [1, 1, 1], [3, 1], [1, 1], [0, 0], [3], [1], [0], []];

/** `screen`: undefined for a pipe, whose lines do not wrap. Its rows include the prompt. */
export function closing(of: Closing, screen?: { columns: number; rows: number }): string {
  const columns = screen?.columns ?? Number.POSITIVE_INFINITY;
  const rowsOf = (lines: string[]) =>
    lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(displayWidth(line) / columns)), 0);
  const begin = ["", ...head(of, columns)];
  const results = resultsLines(of);
  const end = [...results, ...nextLines(fewer(of, begin.length - 1 + results.length), columns)];
  const room = (screen?.rows ?? 24) - 1 - rowsOf([...begin, ...end]);
  const kept = screen ? rowsOf(troubleLines(of, 0, columns)) : 0;
  const fitting = (most: number) =>
    shapes.find((one) => one.length <= of.failures.length && rowsOf(failed(of, one, columns)) <= most);
  const narrower = fitting(room - kept) ?? [];
  const failures = failed(of, narrower[0] ? narrower : (fitting(room) ?? []), columns);
  const left = screen ? room - rowsOf(failures) : Number.POSITIVE_INFINITY;
  const most = [troublesMax, 2, 1, 0].find((one) => rowsOf(troubleLines(of, one, columns)) <= left);
  const troubles = most === undefined ? [] : troubleLines(of, most, columns);
  return `${[...begin, ...failures, ...troubles, ...end].join("\n")}\n`;
}

function head(
  { pipeline, profile, counts, durationMs, coverage, rescored, cost, services = [] }: Closing,
  columns: number,
): string[] {
  const parts = (Object.keys(counts) as OutcomeKind[])
    .filter((kind) => counts[kind] > 0)
    .map((kind) => `${counts[kind]} ${kind}`);
  const did = parts.join(", ") || "nothing to do";
  const lines = [
    `${pipeline} (${profile}): ${did} in ${formatDuration(durationMs)}`,
    coverage,
    rescored,
    cost,
    ...services,
  ];
  return lines.filter((line) => line !== undefined).flatMap((line) => wrap(line, columns));
}

function failed({ failures }: Closing, shape: number[], columns: number): string[] {
  const shown = failures
    .slice(0, shape.length)
    .flatMap(({ stage, cause, said, command }, at) => [
      `failed  ${stage}`,
      clip(`        ${oneLine(cause)}`, columns),
      ...said
        .slice(said.length - Math.min(said.length, shape[at]!))
        .map((line) => clip(`        | ${line}`, columns)),
      `        ${command}`,
    ]);
  const more = failures.length - shape.length;
  if (more > 0) shown.push(shape.length > 0 ? `… and ${more} more failed` : `${more} failed`);
  return shown;
}

/** The first `most`; 0: only how many there are. Commands are never cut, since they are to be typed. */
function troubleLines({ troubles = [], pipeline }: Closing, most: number, columns: number): string[] {
  if (troubles.length === 0) return [];
  const status = `${typedProgram()} status ${pipeline}`;
  if (most === 0) return [`${troubles.length} infrastructure failures or waits: ${status}`];
  const more = troubles.length - most;
  return [
    "infrastructure failures and waits; repair the cause, then type",
    ...troubles
      .slice(0, most)
      .flatMap(({ stage, why, command }) => [
        `  ${command}`,
        clip(`      ${stage}: ${oneLine(why)}`, columns),
      ]),
    ...(more > 0 ? [`  … and ${more} more: ${status}`] : []),
  ];
}

const troublesMax = 20;

function resultsLines({ results, counts }: Closing): string[] {
  if (results !== undefined) return [`results: ${results}/`];
  if (counts.failed + counts.skipped + counts.cancelled === 0) return [];
  return ["no new results were published; any under results/ are from an earlier run"];
}

/** After a success the lines are at most eight: of the next steps, at least the first is kept. */
function fewer(of: Closing, before: number): Closing {
  const { next, failures, troubles = [], counts } = of;
  if (failures.length + troubles.length + counts.failed + counts.skipped + counts.cancelled > 0) return of;
  const kept = next.slice(0, Math.max(1, Math.floor((closingMax - before - 1) / 2)));
  const isTooLong = before + 1 + 2 * kept.length > closingMax;
  return { ...of, next: of.rescored && isTooLong ? kept.map((step) => ({ ...step, why: "" })) : kept };
}

const closingMax = 8;

/** Commands are never cut, since they are to be typed. */
function nextLines({ next }: Closing, columns: number): string[] {
  if (next.length === 0) return [];
  return [
    "next",
    ...next.flatMap(({ why, command }) => [
      `  ${command}`,
      ...(why === "" ? [] : [clip(`      ${why}`, columns)]),
    ]),
  ];
}
