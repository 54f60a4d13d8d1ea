// Lists every file of a submission by what it is, never by what it claims to be.
import { closeSync, fstatSync, lstatSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readFully } from "../safetensors/safetensors.ts";
import { type StrictJson, strictJson } from "./admission-json.ts";

export type SubmittedFile = { path: string; bytes: number };

export type SubmittedFiles = {
  files: SubmittedFile[];
  /** Entries that are not a plain file or folder, or are too deep, with the reason. */
  odd: { path: string; why: string }[];
  /** The walk stopped: too many entries. */
  tooMany: boolean;
};

const entriesMax = 100_000;
const depthMax = 64;

/** All files below `folder`, sorted by path. Links are not followed. */
export function submittedFiles(folder: string): SubmittedFiles {
  const all: SubmittedFiles = { files: [], odd: [], tooMany: false };
  const pending: { prefix: string; depth: number }[] = [{ prefix: "", depth: 0 }];
  let entries = 0;
  while (pending.length > 0 && !all.tooMany) {
    const { prefix, depth } = pending.pop()!;
    for (const name of list(join(folder, prefix), () => all.odd.push({ path: prefix, why: "unreadable" }))) {
      if (++entries > entriesMax) {
        all.tooMany = true;
        break;
      }
      const path = prefix + name;
      // a name that is not UTF-8 comes back changed, so that no file is found under it
      const stats = lstatSync(join(folder, path), { throwIfNoEntry: false });
      if (!stats) all.odd.push({ path, why: "a name that is not UTF-8" });
      else if (stats.isFile()) all.files.push({ path, bytes: stats.size });
      else if (stats.isSymbolicLink()) all.odd.push({ path, why: "a symbolic link" });
      else if (!stats.isDirectory()) all.odd.push({ path, why: "a device, pipe or socket" });
      else if (depth === depthMax) all.odd.push({ path, why: `deeper than ${depthMax} folders` });
      else pending.push({ prefix: `${path}/`, depth: depth + 1 });
    }
  }
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
  all.files.sort(byPath);
  all.odd.sort(byPath);
  return all;
}

function list(folder: string, unreadable: () => void): string[] {
  try {
    return readdirSync(folder);
  } catch {
    unreadable();
    return [];
  }
}

/** Reads a JSON file of at most `bytesMax`. Never throws for its contents. */
export function readJsonFile(path: string, bytesMax: number): StrictJson {
  const bytes = readBounded(path, bytesMax);
  return typeof bytes === "string" ? { kind: "malformed", reason: bytes } : strictJson(bytes);
}

/** The first `length` bytes of a file, fewer if it is shorter. */
export function firstBytes(path: string, length: number): Uint8Array | undefined {
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

function readBounded(path: string, bytesMax: number): Uint8Array | string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) return "not there";
  if (stats.size > bytesMax) return `${stats.size} bytes; at most ${bytesMax} are read`;
  return firstBytes(path, bytesMax) ?? "cannot be read";
}
