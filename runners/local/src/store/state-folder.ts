// The paths of the state below a root: `.mlrb/` for the runner, `results/` for users.
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeWhole } from "@mlrb/kit/json-file";
import { ifReadable } from "./if-readable.ts";
import { refuseOther } from "./other-format.ts";
import { whereWritable } from "./read-only-state.ts";

export type StateFolder = ReturnType<typeof statePaths>;

const formatVersion = 1;

/** The folders below `root`, whether they exist or not. */
export function statePaths(root: string) {
  const state = join(root, ".mlrb");
  const cache = join(state, "cache");
  return {
    root,
    state,
    blobs: join(cache, "blobs"),
    actions: join(cache, "actions"),
    last: join(cache, "last"),
    memory: join(cache, "memory"),
    attempts: join(state, "attempts"),
    /** For running attempts. */
    running: join(state, "attempts", "running"),
    environments: join(state, "environments"),
    journals: join(state, "journals"),
    logs: join(state, "journals", "logs"),
    leases: join(state, "leases"),
    work: join(state, "work"),
    results: join(root, "results"),
  };
}

/** Returns the folders below `root` and creates missing ones. Throws if another version wrote them. */
export function stateFolder(root: string): StateFolder {
  checkFormat(root);
  const folder = statePaths(root);
  const version = join(folder.state, "format.json");
  // on every call: the cache may have been deleted by hand, which must cost no more than its contents
  const make = () => {
    for (const { 0: name, 1: path } of Object.entries(folder)) if (name !== "results") makeFolder(path);
  };
  if (!existsSync(version)) make();
  else whereWritable(make); // a user without write access reads what exists
  if (existsSync(version)) return folder;
  writeWhole(version, `${JSON.stringify({ formatVersion })}\n`);
  return folder;
}

/** Throws if another version wrote the state. Creates nothing. */
export function checkFormat(root: string): void {
  const { state } = statePaths(root);
  const version = join(state, "format.json");
  if (existsSync(version)) refuseOther(state, formatOf(version), formatVersion);
}

function formatOf(version: string): number {
  type Held = { formatVersion: unknown } | null;
  const held = ifReadable(() => JSON.parse(readFileSync(version, "utf8")) as Held)?.formatVersion;
  if (typeof held === "number") return held;
  throw new Error(
    `${version} is damaged; if this state was written by this version of mlrb, remove it and run again: everything else is kept`,
  );
}

/** Creates a folder and its parents. Node's own recursion reports a read-only disk as "no such file". */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error; // otherwise another run created the folder first
  }
}
