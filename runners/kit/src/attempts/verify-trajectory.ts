// Checks that a trajectory is as its supervisor wrote it. The file may have been changed since, so nothing about
// it is trusted: neither its encoding nor the length of its lines.
import { createHash } from "node:crypto";
import { isTable } from "@mlrb/formats/is-table";
import { nestsDeeper } from "@mlrb/formats/nests-deeper";
import { readingLimits } from "../admission/reading-limits.ts";
import { splitLines } from "./split-lines.ts";

/** The `previous` digest of the first line. */
export const noLine = "0".repeat(64);

export type TrajectoryCheck =
  /** complete: its last line is the event `end`. */
  | { kind: "intact"; lines: number; head: string; complete: boolean }
  /** `line` counts from 1. */
  | { kind: "broken"; line: number; reason: string };

/** Checks the hash chain from the first line. `seal` (from the ledger) also reveals a cut or replaced end. */
export async function verifyTrajectory(
  path: string,
  seal?: { lines: number; head: string },
): Promise<TrajectoryCheck> {
  let previous = noLine;
  let lines = 0;
  let complete = false;
  for await (const line of splitLines(path)) {
    const at = lines + 1;
    if (typeof line === "string") return { kind: "broken", line: at, reason: line };
    const record = parse(line);
    if (typeof record === "string") return { kind: "broken", line: at, reason: record };
    if (record.formatVersion !== 1) return { kind: "broken", line: at, reason: "of another format" };
    if (record.index !== lines)
      return { kind: "broken", line: at, reason: `numbered ${shown(record.index)}, expected ${lines}` };
    if (record.previous !== previous)
      return { kind: "broken", line: at, reason: "does not follow from the line before it" };
    previous = createHash("sha256").update(line).digest("hex");
    complete = record.event === "end";
    lines++;
  }
  if (lines === 0) return { kind: "broken", line: 1, reason: "no lines" };
  if (seal && seal.lines !== lines)
    return {
      kind: "broken",
      line: lines + 1,
      reason: `the ledger counts ${shown(seal.lines)} lines, here are ${lines}`,
    };
  if (seal && seal.head !== previous)
    return { kind: "broken", line: lines, reason: "the last line is not the one that the ledger sealed" };
  return { kind: "intact", lines, head: previous, complete };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function parse(line: Buffer): Record<string, unknown> | string {
  try {
    const value: unknown = JSON.parse(utf8.decode(line));
    if (nestsDeeper(value, readingLimits.jsonDepth.max)) return "nests too deep";
    return isTable(value) ? value : "not a JSON object";
  } catch {
    return "not JSON";
  }
}

function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : "otherwise";
}
