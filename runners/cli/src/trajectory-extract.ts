// The parts of a trajectory that a page has room for: how it began, how it ended, and what stands out between.
// A trajectory may hold tens of thousands of lines of gigabytes; no more than a few hundred KB of it are read.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { readLedger } from "@mlrb/kit/rules/ledger";
import type { PageEvent } from "@mlrb/report/page/page-data";

/** Read from the beginning and from the end. */
const bytesMax = 256 << 10;
/** Shown of the beginning and of the end, whatever they are. */
const edge = 15;
const eventsMax = 60;
const textMax = 400;
const common = new Set(["formatVersion", "index", "previous", "time", "sinceStartMs", "event"]);

type Extract =
  | { kind: "read"; lines: number | null; events: PageEvent[] }
  | { kind: "unreadable"; cause: string };

/** `ledger` is a path; it knows how many lines there are. */
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
  const read = parts.map((lines) => lines.map(parse));
  const all = read.flat();
  const sealed = ledger === undefined ? undefined : readLedger(ledger);
  const lines =
    sealed !== undefined && typeof sealed !== "string" ? (sealed.trajectory?.lines ?? null) : null;
  const gap = read.length > 1 ? read[0]!.length : undefined;
  let room = eventsMax - Math.min(all.length, 2 * edge);
  const events: PageEvent[] = [];
  let skipped = false;
  for (const [at, event] of all.entries()) {
    const atEdge = at < edge || at >= all.length - edge;
    if (at === gap) skipped = true;
    if (!atEdge && (event.event === "output" || room-- <= 0)) {
      skipped = true;
      continue;
    }
    events.push({ ...event, skippedBefore: skipped });
    skipped = false;
  }
  return { kind: "read", lines: lines ?? (gap === undefined ? all.length : null), events };
}

/** The file's lines, or where it is long those of its beginning and of its end, torn ones left out. */
function edges(path: string): string[][] {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const piece = (from: number, length: number) => {
      const buffer = Buffer.alloc(length);
      return buffer.toString("utf8", 0, readSync(file, buffer, 0, length, from)).split("\n");
    };
    const whole = (lines: string[]) => lines.filter((line) => line !== "");
    if (size <= 2 * bytesMax) return [whole(piece(0, size))];
    return [whole(piece(0, bytesMax).slice(0, -1)), whole(piece(size - bytesMax, bytesMax).slice(1))];
  } finally {
    closeSync(file);
  }
}

function parse(line: string): Omit<PageEvent, "skippedBefore"> {
  let fields: Record<string, unknown>;
  try {
    fields = Object(JSON.parse(line)) as Record<string, unknown>;
  } catch {
    return { sinceStartMs: null, event: "unreadable", text: clipped(line) };
  }
  const { sinceStartMs, event } = fields;
  return {
    sinceStartMs: typeof sinceStartMs === "number" && Number.isFinite(sinceStartMs) ? sinceStartMs : null,
    event: clipped(String(event)),
    text: clipped(textOf(fields)),
  };
}

/** What was written, where the event is of that; else all that is its own. */
function textOf(fields: Record<string, unknown>): string {
  if (typeof fields.text === "string") return fields.text.trimEnd();
  if (typeof fields.line === "string") return fields.line;
  const own = Object.entries(fields).filter(([name]) => !common.has(name));
  return own
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}

function clipped(text: string): string {
  const plain = stripVTControlCharacters(text);
  return plain.length > textMax ? `${plain.slice(0, textMax - 1)}…` : plain;
}
