// Where state lives below a root: `.mlrb/` for what the runner keeps, `results/` for people.
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeWhole } from "@mlrb/kit/json-file";

export type StateFolder = {
  root: string;
  state: string;
  blobs: string;
  actions: string;
  last: string;
  memory: string;
  attempts: string;
  /** Of attempts that go on. */
  running: string;
  environments: string;
  journals: string;
  logs: string;
  leases: string;
  work: string;
  results: string;
};

const formatVersion = 1;

/** The folders below `root`, made when missing. Throws when they were written by a newer version. */
export function stateFolder(root: string): StateFolder {
  const state = join(root, ".mlrb");
  const cache = join(state, "cache");
  const folder: StateFolder = {
    root,
    state,
    blobs: join(cache, "blobs"),
    actions: join(cache, "actions"),
    last: join(cache, "last"),
    memory: join(cache, "memory"),
    attempts: join(state, "attempts"),
    running: join(state, "attempts", "running"),
    environments: join(state, "environments"),
    journals: join(state, "journals"),
    logs: join(state, "journals", "logs"),
    leases: join(state, "leases"),
    work: join(state, "work"),
    results: join(root, "results"),
  };
  const version = join(state, "format.json");
  if (existsSync(version)) {
    const found = formatOf(version);
    if (found > formatVersion) {
      throw new Error(
        `${state} is of format ${found}, and this mlrb reads up to ${formatVersion}; update mlrb or choose another --root`,
      );
    }
  }
  // every time: the cache may have been deleted by hand, which must cost no more than what was in it
  for (const { 0: name, 1: path } of Object.entries(folder)) if (name !== "results") makeFolder(path);
  if (existsSync(version)) return folder;
  writeWhole(version, `${JSON.stringify({ formatVersion })}\n`);
  return folder;
}

function formatOf(version: string): number {
  try {
    const { formatVersion } = JSON.parse(readFileSync(version, "utf8")) as { formatVersion: unknown };
    if (typeof formatVersion === "number") return formatVersion;
  } catch {
    // said below
  }
  throw new Error(
    `${version} is damaged; if this state was written by this version of mlrb, remove it and run again: everything else is kept`,
  );
}

/** Makes a folder and those above it. Node's own recursion calls a read-only disk "no such file". */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error; // else another run was quicker
  }
}
