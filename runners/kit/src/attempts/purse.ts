// The spending limit of an attempt from the command line, besides its own budget. Its file is in the attempt's
// folder for the harness; it is in no key and reaches no sandbox. A run that adopts an attempt of an earlier run
// replaces the file, and the harness reads it again before each try of a call.
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { purse as format, type Purse } from "@mlrb/formats/attempt/purse";
import { readFormat } from "@mlrb/formats/read-format";
import { readFrom } from "../files/read-from.ts";
import { canonicalJson, writeWhole } from "../json-file.ts";

/** In an attempt's folder. */
export const purseFile = "purse.json";

/** Creates or changes the cap of a run. */
export function writeCap(path: string, maxDollars: number): void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `\n${canonicalJson({ formatVersion: 1, maxDollars })}\n`, { flush: true });
}

export function writePurse(path: string, purse: Purse): void {
  writeWhole(path, canonicalJson({ formatVersion: 1, ...purse }));
}

/** Undefined if there is none: the attempt was started by hand. Throws on another format. */
export function readPurse(path: string): Purse | undefined {
  const bytes = readFrom(path, 0);
  if (!bytes) return undefined;
  const reading = readFormat(format, bytes.toString());
  if (reading.kind === "unreadable")
    throw new Error(`${path} is of another format; this program reads format 1: ${reading.cause}`);
  const { runs, cap } = reading.value;
  return { runs, cap };
}
