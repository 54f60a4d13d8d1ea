// The state that a run leaves behind, without times and places: folders with the same work compare equal.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ActionCache, type ActionEntry } from "@mlrb/local/store/action-cache";
import { filesBelow } from "./lab.ts";

export type EndState = {
  /** Contents by path, unfinished files included. */
  blobs: Record<string, string>;
  /** Entries by key. */
  actions: Record<string, unknown>;
  /** One entry for each record, by attempt key: a repeated attempt has two. */
  attempts: { key: string; record: unknown; files: Record<string, string> }[];
  results: Record<string, string>;
  /** Names of files in folders that must be empty. */
  work: string[];
  leases: string[];
  unfinishedRecords: string[];
};

export function endState(root: string): EndState {
  const state = join(root, ".mlrb");
  const records = join(state, "attempts/records");
  const attempts = recordsIn(root).map(({ digest, record }) => {
    const { "record.json": _, ...files } = filesBelow(join(records, digest));
    const { stage } = record.slot as { stage: string };
    return { key: String(record.attemptKey), record: { ...record, ran: undefined, stage }, files };
  });
  return {
    blobs: filesBelow(join(state, "cache/blobs")),
    actions: Object.fromEntries(
      actionsIn(root).map((entry) => [entry.key, { ...entry, ran: undefined, stage: entry.ran.stage }]),
    ),
    attempts: attempts.sort((a, b) => (a.key < b.key ? -1 : 1)),
    results: filesBelow(join(root, "results")),
    work: namesIn(join(state, "work")),
    leases: namesIn(join(state, "leases")),
    unfinishedRecords: namesIn(records).filter((name) => name.startsWith("tmp-")),
  };
}

/** The stages whose results in `expected` are all recorded, so that they must not run again. */
export function recordedStages(root: string, expected: EndState): Set<string> {
  const { actions, attempts } = endState(root);
  const keys = attempts.map(({ key }) => key);
  const wanted = [
    ...Object.entries(expected.actions).map(([path, entry]) => ({ entry, recorded: path in actions })),
    ...expected.attempts.map(({ key, record }) => ({ entry: record, recorded: keys.includes(key) })),
  ].map(({ entry, recorded }) => ({ stage: (entry as { stage: string }).stage, recorded }));
  const missing = new Set(wanted.filter(({ recorded }) => !recorded).map(({ stage }) => stage));
  return new Set(wanted.map(({ stage }) => stage).filter((stage) => !missing.has(stage)));
}

/** Recorded actions, by key. */
export function actionsIn(root: string): ActionEntry[] {
  const cache = new ActionCache(join(root, ".mlrb/cache/actions"));
  return cache
    .keys()
    .flatMap((key) => cache.get(key) ?? [])
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** All attempt records. Throws on an incomplete one. */
export function recordsIn(root: string): { digest: string; record: Record<string, unknown> }[] {
  const records = join(root, ".mlrb/attempts/records");
  return namesIn(records)
    .filter((name) => !name.startsWith("tmp-"))
    .map((digest) => ({
      digest,
      record: JSON.parse(readFileSync(join(records, digest, "record.json"), "utf8")),
    }));
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}
