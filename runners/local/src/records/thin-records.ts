// Removes weights from records, and from the cache, which has other names of the same files. Everything else of a
// record stays. The intention is on disk before the first file goes: after a kill each listed file is either there
// and used, or gone and known to be thinned, and the next call removes the rest.

import { existsSync, lstatSync, rmSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { ThinnedFile } from "@mlrb/formats/attempt/thinning";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import type { ActionEntry } from "../store/action-cache.ts";
import type { Workspace } from "../store/workspace.ts";
import { type Action, actionsWithReads, damagedStages, madeOf, syncResults } from "./made-of.ts";
import { fileOf } from "./records-sharing.ts";
import { addThinnings, isWeights } from "./thinned-files.ts";

/** What to remove: the weights in these outputs of a record. */
export type WantedThin = { digest: string; record: AttemptRecord; outputs: string[]; why: string };

type ThinnedRecord = {
  record: string;
  /** The files that are gone now, or would go. */
  files: ThinnedFile[];
  /** Files that stay because their content stays: for another record, or as a given model. */
  shared: number;
  /** Stages that read the weights and whose results are damaged or missing. If there are any, nothing is removed. */
  damaged: string[];
};

export type Thinned = {
  records: ThinnedRecord[];
  /** Digests of the contents that are gone now, or would go. */
  contents: ReadonlySet<string>;
  /** Bytes on the disk that have no other name. */
  freed: number;
};

type Place = Pick<Workspace, "state" | "store" | "attempts" | "actions">;

/** Must not run during a run, which may be about to use the contents. Throws DamagedRecord. */
export function thinRecords(
  wanted: readonly WantedThin[],
  place: Place,
  { now, dryRun = false }: { now: Date; dryRun?: boolean },
): Thinned {
  const { state, attempts, store } = place;
  const actions = actionsWithReads(place.actions, store);
  const found = wanted.map((one) => withReaders(one, place, actions));
  const sound = found.filter(({ damaged }) => damaged.length === 0);
  const kept = contentsKept(sound, place, actions);
  const isFree = (file: ThinnedFile) => !kept.has(file.digest);
  const records = found.map(({ digest: record, files, damaged }): ThinnedRecord => {
    const free = damaged.length === 0 ? files.filter(isFree) : [];
    return { record, files: free, shared: damaged.length === 0 ? files.length - free.length : 0, damaged };
  });
  // with what an interrupted call left
  const going = sound.flatMap(({ digest, record: { outputs: made }, outputs, files }) => {
    const record = digest;
    const isAsked = ({ path }: ThinnedFile) =>
      outputs.some((name) => path.startsWith(`${made[name]?.file}/`));
    const listed = [...(attempts.thinned().files.get(record)?.values() ?? [])].filter(isAsked);
    return [...files, ...listed].filter(isFree).map((file) => ({ record, ...file }));
  });
  const contents = new Set(going.map(({ digest }) => digest));
  const names = new Set([
    ...going.map(({ record, path }) => join(state.attempts, "records", record, path)),
    ...[...contents].map((content) => store.pathOf(content)),
  ]);
  const freed = bytesFreed(names);
  if (dryRun) return { records, contents, freed };
  syncResults([...new Set(sound.flatMap(({ readers }) => readers))], place);
  const lines = wanted.map(({ digest: record, why }, at) => {
    const listed = attempts.thinned().files.get(record);
    const files = records[at]!.files.filter(({ path }) => !listed?.has(path));
    return { thinnedAt: now.toISOString(), record, why, files };
  });
  addThinnings(
    state.attempts,
    lines.filter(({ files }) => files.length > 0),
  );
  for (const name of names) rmSync(name, { force: true });
  attempts.refresh();
  return { records, contents, freed };
}

type Found = WantedThin & { files: ThinnedFile[]; readers: ActionEntry[]; damaged: string[] };

/** What may go of a record, and what was made of it: that must be whole, because nothing can make it again. */
function withReaders(one: WantedThin, place: Place, actions: readonly Action[]): Found {
  const { store, attempts } = place;
  const files = weightsOf(one, place);
  const going = new Set(files.map(({ digest }) => digest));
  const start = one.outputs.flatMap((name) => one.record.outputs[name]?.digest ?? []);
  const { readers } = madeOf(start, actions);
  const isThinned = (content: string) => going.has(content) || attempts.isThinned(content);
  const damaged = files.length > 0 ? damagedStages(readers, { store, isThinned }) : [];
  return { ...one, files, readers, damaged };
}

/** The weights that the outputs still have, by the digests that the record pins. */
function weightsOf(
  { digest, record, outputs }: WantedThin,
  { state, store, attempts }: Place,
): ThinnedFile[] {
  attempts.ensureStored(digest, record);
  return outputs.flatMap((name) => {
    const output = record.outputs[name];
    if (output?.kind !== "dir") return [];
    return store.filesOf(output.digest).flatMap(({ path: inside, digest: content, executable }) => {
      const path = `${output.file}/${inside}`;
      const stats = lstatSync(join(state.attempts, "records", digest, path), { throwIfNoEntry: false });
      if (!stats?.isFile() || !isWeights(path, stats.size)) return [];
      return [{ path, digest: content, bytes: stats.size, ...(executable && { executable }) }];
    });
  });
}

/**
 * The contents that something else holds: other outputs and other records, given models, and results that were not
 * made from the weights. Results that were made from them, such as clean folders, hold the same files and do not
 * count.
 */
function contentsKept(
  wanted: readonly WantedThin[],
  { state, store, attempts }: Place,
  actions: readonly Action[],
): ReadonlySet<string> {
  const going = new Map(wanted.map(({ digest, outputs }) => [digest, new Set(outputs)]));
  const start = new Set<string>();
  const kept = new Set<string>();
  const keep = (artifact: Artifact) => {
    for (const { digest } of store.knownFilesOf(artifact) ?? []) kept.add(digest);
  };
  for (const { digest, record } of attempts.readable()) {
    const thinned = attempts.thinned().files.get(digest);
    const folder = join(state.attempts, "records", digest);
    // a thinned file may be there again, from an archive
    const isHeld = (path: string) => !thinned?.has(path) || existsSync(join(folder, path));
    for (const given of record.given) keep(given);
    for (const [name, output] of Object.entries(record.outputs)) {
      if (going.get(digest)?.has(name)) start.add(output.digest);
      else
        for (const file of store.knownFilesOf(output) ?? [])
          if (isHeld(`${output.file}/${file.path}`)) kept.add(file.digest);
    }
  }
  const { made } = madeOf(start, actions);
  for (const { entry } of actions)
    for (const output of Object.values(entry.outputs)) if (!made.has(output.digest)) keep(output);
  return kept;
}

/** The size of the files all of whose names are in `names`. */
function bytesFreed(names: ReadonlySet<string>): number {
  const files = new Map<string, { stats: Stats; going: number }>();
  for (const name of names) {
    const stats = lstatSync(name, { throwIfNoEntry: false });
    if (!stats) continue;
    const going = (files.get(fileOf(stats))?.going ?? 0) + 1;
    files.set(fileOf(stats), { stats, going });
  }
  return [...files.values()].reduce(
    (sum, { stats, going }) => sum + (going >= stats.nlink ? stats.size : 0),
    0,
  );
}
