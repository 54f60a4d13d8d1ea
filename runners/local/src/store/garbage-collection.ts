// Measures, verifies and cleans the store as a whole.

import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { hashFile } from "../digests/hash-file.ts";
import { LastRuns } from "../journal/last-runs.ts";
import { look } from "../leases/heartbeat.ts";
import { isAlive } from "../leases/owner.ts";
import { AttemptRecords } from "../records/attempt-records.ts";
import { DamagedRecord } from "../records/damaged-record.ts";
import { actionsWithReads, madeOf } from "../records/made-of.ts";
import { fileOf, recordsSharing } from "../records/records-sharing.ts";
import { ActionCache } from "./action-cache.ts";
import { Store } from "./artifact-store.ts";
import type { StateFolder } from "./state-folder.ts";
import { VerifiedContents } from "./verified-contents.ts";

export function storeStats(state: StateFolder) {
  const all = [...blobs(state.blobs)];
  return {
    blobs: all.length,
    bytes: all.reduce((sum, { path }) => sum + lstatSync(path).size, 0),
    actions: new ActionCache(state.actions).keys().length,
    attempts: recordsOf(state).list().length,
  };
}

/**
 * Reads every content. A content that does not match its digest is replaced from an attempt's record, or removed
 * so that its producer runs again. An attempt does not run again: attempts that share the file are named.
 */
export function verifyStore(state: StateFolder) {
  const damaged: string[] = [];
  const shared = new Set<string>();
  let checked = 0;
  for (const { path, digest } of blobs(state.blobs)) {
    checked++;
    if (hashFile(path) === digest) continue;
    damaged.push(digest);
    const stats = lstatSync(path);
    if (stats.nlink > 1) shared.add(fileOf(stats));
    rmSync(path, { force: true });
  }
  const sharing = recordsSharing(join(state.attempts, "records"), shared);
  if (damaged.length > 0) putBackFromRecords(state);
  const store = new Store(state.blobs);
  /** The damaged contents that an attempt's record had a sound copy of. */
  const repaired = damaged.filter((digest) => store.has(digest));
  // the attempts that share a damaged file keep it
  return { checked, damaged, repaired, attempts: [...sharing.values()].flat() };
}

/**
 * Restores missing contents of the store from sound records. A damaged record restores nothing; `attempts verify`
 * names it.
 */
function putBackFromRecords(state: StateFolder): void {
  const attempts = recordsOf(state);
  for (const { digest, record } of attempts.readable()) {
    try {
      attempts.ensureStored(digest, record);
    } catch (error) {
      if (!(error instanceof DamagedRecord)) throw error;
    }
  }
}

/** Removes contents that were added since `sinceMs` and do not match their digests. For use after a power cut. */
export function removeTorn(folder: string, sinceMs: number): void {
  for (const { path, digest } of blobs(folder)) {
    // adding or moving a file changes ctime; a stage can set the other times to anything
    if (lstatSync(path).ctimeMs >= sinceMs && hashFile(path) !== digest) rmSync(path, { force: true });
  }
}

/**
 * Removes actions that are no pipeline's last success and that can run again, and contents that neither the other
 * actions nor any attempt uses (inputs of attempts are pinned). Must not run during a run, which may be about to
 * use them.
 */
export function collectGarbage(
  state: StateFolder,
): { blobs: number; bytes: number; actions: number } | { busy: string } {
  const running = liveRun(state);
  if (running !== undefined) return { busy: running };
  const store = new Store(state.blobs);
  const used = new Set<string>();
  const removed = { blobs: 0, bytes: 0, actions: 0 };
  const actions = new ActionCache(state.actions);
  const attempts = recordsOf(state);
  removed.actions = actions.retain(lastKeys(state.last).union(keysOfThinned(actions, attempts, store)));
  for (const key of actions.keys()) {
    const { outputs, parts, codeFiles } = actions.get(key)!;
    for (const output of Object.values(outputs)) markUsed(output, { store, used });
    used.add(codeFiles);
    if (parts.inputs.manifest !== undefined) used.add(parts.inputs.manifest);
  }
  for (const digest of attempts.list()) {
    const { outputs, given } = attempts.read(digest);
    for (const artifact of [...Object.values(outputs), ...given]) markUsed(artifact, { store, used });
  }
  for (const { path, digest } of blobs(state.blobs)) {
    if (used.has(digest)) continue;
    removed.blobs++;
    removed.bytes += lstatSync(path).size;
    rmSync(path, { force: true });
  }
  for (const name of names(state.blobs))
    if (name.startsWith("tmp-")) rmSync(join(state.blobs, name), { force: true });
  return removed;
}

/** Actions that read weights which `attempts thin` removed, also weights of records that are not current. */
function keysOfThinned(actions: ActionCache, attempts: AttemptRecords, store: Store): Set<string> {
  const { files } = attempts.thinned();
  if (files.size === 0) return new Set();
  const start = attempts.readable().flatMap(({ digest, record }) => {
    const gone = [...(files.get(digest)?.keys() ?? [])];
    return Object.values(record.outputs).flatMap((output) =>
      gone.some((path) => path.startsWith(`${output.file}/`)) ? [output.digest] : [],
    );
  });
  const { readers } = madeOf(start, actionsWithReads(actions, store));
  const whole = readers.filter(({ outputs }) =>
    Object.values(outputs).every((output) => store.canGive(output, attempts.isThinned)),
  );
  return new Set(whole.map(({ key }) => key));
}

function recordsOf(state: StateFolder): AttemptRecords {
  const at = { store: new Store(state.blobs), verified: new VerifiedContents(state.memory) };
  return new AttemptRecords(state.attempts, at);
}

function markUsed(artifact: Artifact, context: { store: Store; used: Set<string> }): void {
  const { store, used } = context;
  if (used.has(artifact.digest)) return;
  used.add(artifact.digest);
  if (artifact.kind === "dir" && store.has(artifact.digest)) {
    for (const entry of store.entriesOf(artifact.digest)) markUsed(entry, context);
  }
}

function lastKeys(folder: string): Set<string> {
  const last = names(folder).flatMap((pipeline) =>
    names(join(folder, pipeline)).flatMap((file) =>
      new LastRuns(folder, pipeline, file.replace(/\.jsonl$/, "")).all(),
    ),
  );
  return new Set(last.map(({ key }) => key));
}

/** The name of a run that is alive on this machine; undefined without one. */
export function liveRun(state: Pick<StateFolder, "work">): string | undefined {
  return names(state.work).find((name) => {
    const owner = look(join(state.work, name, "owner.json"))?.owner;
    return owner !== undefined && isAlive(owner);
  });
}

function* blobs(folder: string): Generator<{ path: string; digest: string }> {
  for (const start of names(folder)) {
    const part = join(folder, start);
    if (start.length !== 1 || !lstatSync(part).isDirectory()) continue;
    for (const rest of names(part)) yield { path: join(part, rest), digest: start + rest };
  }
}

function names(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}
