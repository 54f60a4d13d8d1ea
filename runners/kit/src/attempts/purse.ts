// What an attempt may spend by what the command line said, beside its own budget: it lies in the attempt's folder for
// its harness, is in no key, and reaches no sandbox. A run that goes on with an attempt of an earlier run puts its own
// in the place of that run's: the harness reads the file again before each try of a call.
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { type CarryingRun, purse as format } from "@mlrb/formats/attempt/purse";
import { readFormat } from "@mlrb/formats/read-format";
import { canonicalJson, writeWhole } from "../json-file.ts";

export type Purse = {
  /** Those that carried the attempt, the newest first. None in a purse of format 1, which its harness reads once. */
  runs: CarryingRun[];
  /** The file in which all attempts of a run write down what they spend; null: nothing caps this one. */
  cap: string | null;
};

/** Of an attempt's folder. */
export const purseFile = "purse.json";

/** Begins the cap of a run, or moves one that there is. */
export function writeCap(path: string, maxDollars: number): void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `\n${canonicalJson({ formatVersion: 1, maxDollars })}\n`, { flush: true });
}

export function writePurse(path: string, purse: Purse): void {
  writeWhole(path, canonicalJson({ formatVersion: 2, ...purse }));
}

/** Undefined where there is none: an attempt that was begun by hand, or by an older program. Throws on another format. */
export function readPurse(path: string): Purse | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const reading = readFormat(format, text);
  if (reading.kind === "unreadable")
    throw new Error(`${path} is of another format; this program reads formats 1 and 2: ${reading.cause}`);
  const { value } = reading;
  return { runs: value.formatVersion === 2 ? value.runs : [], cap: value.cap };
}
