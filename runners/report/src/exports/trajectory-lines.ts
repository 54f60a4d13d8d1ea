// Reads a trajectory line by line with bounded memory. The file is not trusted and may be cut off anywhere: the
// first bad line ends the reading with a reason, and the lines before it stay valid.
import { closeSync, openSync, readSync } from "node:fs";
import { trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { nestsDeeper } from "@mlrb/formats/nests-deeper";
import { checkFormat } from "@mlrb/formats/read-format";
import { readingLimits } from "@mlrb/kit/admission/reading-limits";
import type { TrajectoryLine } from "./attempt-source.ts";

const pieceBytes = 256 << 10;
const lineMax = readingLimits.trajectoryLineBytes.max;
const depthMax = readingLimits.jsonDepth.max;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** `bytesMax`: the lines in the first so many bytes. */
export function* trajectoryLines(
  path: string,
  bytesMax = Number.POSITIVE_INFINITY,
): Generator<TrajectoryLine> {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    yield { kind: "broken", index: 0, why: `it cannot be read (${(error as NodeJS.ErrnoException).code})` };
    return;
  }
  let index = 0;
  let room = bytesMax;
  try {
    for (const bytes of splitLines(file)) {
      room -= bytes.length + 1;
      if (room < 0) return;
      const line = typeof bytes === "string" ? broken(index, bytes) : trajectoryLine(index, bytes);
      yield line;
      if (line.kind === "broken") return;
      index++;
    }
    if (index === 0) yield broken(0, "it is empty");
  } finally {
    closeSync(file);
  }
}

/** Lines as bytes; a text is the reason why reading ends, and comes last. */
function* splitLines(file: number): Generator<Uint8Array | string> {
  const piece = Buffer.alloc(pieceBytes);
  let rest: Buffer[] = [];
  let length = 0;
  for (;;) {
    const read = readSync(file, piece, 0, pieceBytes, null);
    if (read === 0) break;
    let from = 0;
    for (let end = piece.indexOf(10); end >= 0 && end < read; end = piece.indexOf(10, from)) {
      yield Buffer.concat([...rest, piece.subarray(from, end)]);
      rest = [];
      length = 0;
      from = end + 1;
    }
    rest.push(Buffer.from(piece.subarray(from, read)));
    length += read - from;
    if (length > lineMax) return yield "a line is longer than 4 MiB";
  }
  if (length > 0) yield "it is cut off in the middle of a line";
}

/** One line, without its end. A bad one is broken, with the reason. */
export function trajectoryLine(index: number, bytes: Uint8Array): TrajectoryLine {
  let fields: unknown;
  try {
    fields = JSON.parse(utf8.decode(bytes));
  } catch {
    return broken(index, "a line is not JSON");
  }
  if (nestsDeeper(fields, depthMax)) return broken(index, `a line nests deeper than ${depthMax} levels`);
  if (typeof fields !== "object" || fields === null || Array.isArray(fields))
    return broken(index, "a line is not a JSON object");
  const { formatVersion, index: _, previous, time, sinceStartMs, ...own } = fields as Record<string, unknown>;
  if (formatVersion !== 1)
    return broken(index, "a line has another format; this version of mlrb reads format 1");
  const place = {
    index,
    time: typeof time === "string" && !Number.isNaN(Date.parse(time)) ? new Date(time).toISOString() : null,
    sinceStartMs: typeof sinceStartMs === "number" && Number.isFinite(sinceStartMs) ? sinceStartMs : null,
  };
  const event = checkFormat(trajectoryEvent, own);
  if (event.kind === "ok") return { kind: "event", ...place, event: event.value };
  return {
    kind: "other",
    ...place,
    name: typeof own.event === "string" ? own.event : "without a name",
    fields: own,
  };
}

function broken(index: number, why: string): TrajectoryLine {
  return { kind: "broken", index, why: `line ${index + 1}: ${why}` };
}
