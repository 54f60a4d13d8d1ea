// Reads files of a submission within limits, by what they are and never by what they claim to be.
import { fstatSync, lstatSync } from "node:fs";
import { openedFile } from "../files/opened-file.ts";
import { quiet } from "../processes/process-table.ts";
import { readFully } from "../safetensors/safetensors.ts";
import { type StrictJson, strictJson } from "./admission-json.ts";
import type { JsonLimits } from "./json-scan.ts";
import { overLimit, type ReadingLimit, readingLimits } from "./reading-limits.ts";

export type JsonFileLimits = JsonLimits & { bytes: ReadingLimit };

/** config.json and other files of settings. */
export const settingsLimits: JsonFileLimits = {
  bytes: readingLimits.settingsBytes,
  values: readingLimits.settingsValues,
};

/** Reads a JSON file within `limits`. Never throws for its contents. */
export function readJsonFile(path: string, limits: JsonFileLimits): StrictJson {
  const bytes = readBounded(path, limits.bytes);
  return typeof bytes === "string" ? { kind: "malformed", reason: bytes } : strictJson(bytes, limits);
}

/** The first `length` bytes of a file, fewer if it is shorter. */
export function firstBytes(path: string, length: number): Uint8Array<ArrayBuffer> | undefined {
  return quiet(() => {
    using file = openedFile(path, "r");
    const buffer = new Uint8Array(Math.min(length, fstatSync(file.descriptor).size));
    return readFully(file.descriptor, buffer, 0) ? buffer : undefined;
  });
}

/** A whole file, or the reason why it is not read. */
export function readBounded(path: string, limit: ReadingLimit): Uint8Array<ArrayBuffer> | string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) return "not there";
  if (stats.size > limit.max) return overLimit(limit, stats.size);
  return firstBytes(path, limit.max) ?? "cannot be read";
}

/** Whether `path` is a plain file; links are not followed. */
export function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
