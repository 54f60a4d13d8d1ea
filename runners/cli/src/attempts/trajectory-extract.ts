// The parts of a trajectory that fit on a page: its beginning, its end, and notable events in between.
// A trajectory may have tens of thousands of lines and gigabytes; at most a few hundred KB are read.
import { statSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { unreachable } from "@mlrb/core/ports/outcome";
import { type LongText, trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { checkFormat } from "@mlrb/formats/read-format";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { readFrom } from "@mlrb/local/store/read-appended";
import type { TrajectoryLine } from "@mlrb/report/exports/attempt-source";
import type { PageEvent, PageTrajectory } from "@mlrb/report/page/page-data";
import { budgetParts } from "@mlrb/report/story/budget-parts";
import { eventWords, factsWords } from "@mlrb/report/story/event-words";
import { clipChanges, type LineChange } from "@mlrb/report/story/line-changes";
import { type PageTurn, pageTurn, type ToolInput } from "@mlrb/report/story/page-turn";
import { storyFailures } from "@mlrb/report/story/story-failures";
import { isNotable } from "@mlrb/report/story/timeline-entry";
import { shorten } from "../show/shorten.ts";

/** Read from the beginning, and as much from the end. */
const bytesMax = 256 << 10;
/** How many first and last events are always shown. */
const edge = 15;
const eventsMax = 120;
const textMax = 400;
/** All texts of one trajectory, in characters; over it, each is shortened in proportion. */
const textsMax = 48 << 10;
const textMin = 80;
const common = new Set(["formatVersion", "index", "previous", "time", "sinceStartMs", "event"]);

type Read<T> = T extends { kind: "read" | "unreadable" } ? Omit<T, "task" | "agent" | "seed"> : never;
type Extract = Read<PageTrajectory>;

/** `ledger`: path of the ledger, which has the number of lines and the usage. */
export function trajectoryExtract(path: string, ledger?: string): Extract {
  let parts: string[][];
  try {
    parts = edges(path);
  } catch (error) {
    return {
      kind: "unreadable",
      cause: `its file cannot be read (${(error as NodeJS.ErrnoException).code})`,
    };
  }
  const parsed = parts.map((lines) => lines.map(parse));
  const inputs = toolInputs(parsed.flat());
  const answered = toolAnswers(parsed.flat());
  // a call is shown with its result
  const read = parsed.map((lines) => lines.filter(({ line }) => !isAnswered(line, answered)));
  const all = read.flat();
  const sealed = ledger === undefined ? undefined : readLedger(ledger);
  const known = sealed === undefined || typeof sealed === "string" ? null : sealed;
  const lines = known?.trajectory.lines ?? null;
  const gap = read.length > 1 ? read[0]!.length : undefined;
  return {
    kind: "read",
    lines: lines ?? (gap === undefined ? all.length : null),
    events: shownEvents(chosen(all, gap), inputs),
    budget: budgetParts(known).map((part) => ({ ...part, words: clipped(part.words) })),
    failures: storyFailures(all.flatMap(({ line }) => line ?? [])).map(({ whose, cause, count, detail }) => ({
      whose: clipped(whose),
      cause: clipped(cause),
      count,
      detail: clipped(detail),
    })),
    partly: gap !== undefined,
  };
}

function shownEvents(
  events: (Parsed & { skippedBefore: boolean })[],
  inputs: ReadonlyMap<string, LongText>,
): PageEvent[] {
  const shown = (max: number) =>
    events.map(({ line, ...event }): PageEvent => {
      const turn = line?.kind === "event" ? pageTurn(line.event, inputs) : undefined;
      const text = clipped(event.text, max);
      return turn === undefined ? { ...event, text } : { ...event, text: "", turn: clippedTurn(turn, max) };
    });
  const whole = shown(textMax);
  const length = JSON.stringify(whole).length;
  return length <= textsMax ? whole : shown(Math.max(textMin, Math.floor((textMax * textsMax) / length)));
}

/** Inputs of tool calls by the call's id. */
function toolInputs(all: Parsed[]): Map<string, LongText> {
  const inputs = new Map<string, LongText>();
  for (const { line } of all)
    if (line?.kind === "event" && line.event.event === "tool-call")
      inputs.set(line.event.id, line.event.input);
  return inputs;
}

function toolAnswers(all: Parsed[]): Set<string> {
  return new Set(
    all.flatMap(({ line }) =>
      line?.kind === "event" && line.event.event === "tool-result" ? [line.event.id] : [],
    ),
  );
}

function isAnswered(line: TrajectoryLine | undefined, answered: ReadonlySet<string>): boolean {
  return line?.kind === "event" && line.event.event === "tool-call" && answered.has(line.event.id);
}

function clippedTurn(turn: PageTurn, max: number): PageTurn {
  const clip = (text: string) => clipped(text, max);
  switch (turn.kind) {
    case "message":
      return { ...turn, to: clip(turn.to), role: clip(turn.role), text: clip(turn.text) };
    case "answer": {
      const { by, facts, reasoning, text } = turn;
      const words = { reasoning: clip(reasoning), text: clip(text) };
      return { ...turn, by: clip(by), facts: clip(facts), ...words };
    }
    case "tool": {
      const { by, name, facts, output, input } = turn;
      const made: ToolInput =
        input.kind === "command"
          ? { kind: "command", text: clip(input.text) }
          : {
              kind: "file",
              path: clip(input.path),
              changes: clipChanges(input.changes.map(plainChange), max),
            };
      const words = { by: clip(by), name: clip(name), facts: clip(facts), output: clip(output) };
      return { ...turn, ...words, input: made };
    }
    default:
      return unreachable(turn);
  }
}

/** Without control sequences, and not yet clipped: what differs may be far behind. */
function plainChange({ kind, text }: LineChange): LineChange {
  return { kind, text: stripVTControlCharacters(text) };
}

type Parsed = Omit<PageEvent, "skippedBefore"> & { line: TrajectoryLine | undefined };

/** The first and last events and the notable ones between; all but output if everything fits. */
function chosen(all: Parsed[], gap: number | undefined): (Parsed & { skippedBefore: boolean })[] {
  const atEdge = (at: number) => at < edge || at >= all.length - edge;
  const inner = all.filter(({ event }, at) => !atEdge(at) && event !== "output").length;
  let room = eventsMax - Math.min(all.length, 2 * edge);
  const wanted = ({ line, event }: Parsed) =>
    event !== "output" && (inner <= room || !line || isNotable(line));
  const events: (Parsed & { skippedBefore: boolean })[] = [];
  let skipped = false;
  const fits = all.map((event, at) => atEdge(at) || wanted(event));
  for (const [at, event] of all.entries()) {
    if (at === gap) skipped = true;
    if (!fits[at] || (!atEdge(at) && room-- <= 0)) {
      skipped = true;
      continue;
    }
    events.push({ ...event, skippedBefore: skipped });
    skipped = false;
  }
  return events;
}

/** The file's lines; of a long file those of its beginning and of its end, without torn lines. */
function edges(path: string): string[][] {
  const { size } = statSync(path);
  const piece = (from: number, length: number) => readFrom(path, from, length)!.toString("utf8").split("\n");
  const whole = (lines: string[]) => lines.filter((line) => line !== "");
  if (size <= 2 * bytesMax) return [whole(piece(0, size))];
  return [whole(piece(0, bytesMax).slice(0, -1)), whole(piece(size - bytesMax, bytesMax).slice(1))];
}

function parse(line: string): Parsed {
  let fields: Record<string, unknown>;
  try {
    fields = Object(JSON.parse(line)) as Record<string, unknown>;
  } catch {
    return { sinceStartMs: null, event: "unreadable", text: clipped(line), line: undefined };
  }
  const since =
    typeof fields.sinceStartMs === "number" && Number.isFinite(fields.sinceStartMs)
      ? fields.sinceStartMs
      : null;
  const own = Object.fromEntries(Object.entries(fields).filter(([name]) => !common.has(name)));
  const name = String(fields.event);
  const reading = checkFormat(trajectoryEvent, { ...own, event: name });
  const event = reading.kind === "ok" ? reading.value : undefined;
  const place = { index: 0, time: null, sinceStartMs: since };
  return {
    sinceStartMs: since,
    event: clipped(name),
    text: clipped(event ? eventWords(event) : factsWords(own)),
    line: event ? { kind: "event", ...place, event } : { kind: "other", ...place, name, fields: own },
  };
}

function clipped(text: string, max = textMax): string {
  return shorten(stripVTControlCharacters(text), max);
}
