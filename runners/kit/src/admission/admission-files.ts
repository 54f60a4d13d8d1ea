// Lists every file of a submission by what it is, never by what it claims to be.
import { closeSync, fstatSync, lstatSync, opendirSync, openSync, type Stats } from "node:fs";
import { join } from "node:path";
import { readFully } from "../safetensors/safetensors.ts";
import { type StrictJson, strictJson } from "./admission-json.ts";
import type { JsonLimits } from "./json-scan.ts";
import { overLimit, type ReadingLimit, readingLimits } from "./reading-limits.ts";

export type SubmittedFile = { path: string; bytes: number };

export type SubmittedFiles = {
  files: SubmittedFile[];
  /** Entries that are not a plain file or folder, or are too deep, with the reason. */
  odd: { path: string; why: string }[];
  /** The walk stopped: too many entries. */
  tooMany: boolean;
};

/** All files below `folder`, sorted by path. Links are not followed. */
export function submittedFiles(folder: string): SubmittedFiles {
  const { depth: depthMax, entries: entriesMax } = readingLimits;
  const all: SubmittedFiles = { files: [], odd: [], tooMany: false };
  const pending: { prefix: string; depth: number }[] = [{ prefix: "", depth: 0 }];
  let entries = 0;
  while (pending.length > 0 && !all.tooMany) {
    const { prefix, depth } = pending.pop()!;
    for (const name of list(join(folder, prefix), () => all.odd.push({ path: prefix, why: "unreadable" }))) {
      if (++entries > entriesMax.max) {
        all.tooMany = true;
        break;
      }
      const path = prefix + name;
      const stats = entryAt(folder, path);
      if (typeof stats === "string") all.odd.push({ path, why: stats });
      else if (stats.isFile()) all.files.push({ path, bytes: stats.size });
      else if (stats.isSymbolicLink()) all.odd.push({ path, why: "a symbolic link" });
      else if (!stats.isDirectory()) all.odd.push({ path, why: "a device, pipe or socket" });
      else if (depth === depthMax.max)
        all.odd.push({ path, why: `deeper than ${depthMax.max} folders (${depthMax.honest})` });
      else pending.push({ prefix: `${path}/`, depth: depth + 1 });
    }
  }
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
  all.files.sort(byPath);
  all.odd.sort(byPath);
  return all;
}

/** A string is the reason why the entry cannot be used. */
function entryAt(folder: string, path: string): Stats | string {
  const { pathBytes } = readingLimits;
  const length = Buffer.byteLength(path);
  if (length > pathBytes.max) return overLimit(pathBytes, length);
  try {
    // a name that is not UTF-8 comes back changed, so that no file is found under it
    return lstatSync(join(folder, path), { throwIfNoEntry: false }) ?? "a name that is not UTF-8";
  } catch (error) {
    return `cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** The names in a folder, one by one: a folder of millions is never held whole. */
function* list(folder: string, unreadable: () => void): Generator<string> {
  try {
    const entries = opendirSync(folder);
    try {
      for (let entry = entries.readSync(); entry; entry = entries.readSync()) yield entry.name;
    } finally {
      entries.closeSync();
    }
  } catch {
    unreadable();
  }
}

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
  try {
    const file = openSync(path, "r");
    try {
      const buffer = new Uint8Array(Math.min(length, fstatSync(file).size));
      return readFully(file, buffer, 0) ? buffer : undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** A whole file, or the reason why it is not read. */
export function readBounded(path: string, limit: ReadingLimit): Uint8Array<ArrayBuffer> | string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) return "not there";
  if (stats.size > limit.max) return overLimit(limit, stats.size);
  return firstBytes(path, limit.max) ?? "cannot be read";
}
