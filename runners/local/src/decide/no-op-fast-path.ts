// The fast path for a run with nothing to do. A successful run leaves a snapshot of everything that it consulted.
// While the snapshot matches, a run with the same request has nothing to do. A touched source counts as the same
// if its content is. Any other case is decided by planning.
import { hash } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { FileDigests } from "../digests/file-digest-memory.ts";
import { readMemory, writeMemory } from "../store/memory-file.ts";
import { checkFormat, type StateFolder, statePaths } from "../store/state-folder.ts";
import { type Consulted, type StatSnapshot, statText } from "./consulted-files.ts";
import { seenBy, touchedOnly } from "./stat-snapshot.ts";

/** The snapshot covers sources, environments and published results. */
type Unchanged<Said> = StatSnapshot & {
  formatVersion: 1;
  node: string;
  /** sha256 of sources, by path from the repository's root. */
  digests: Record<string, string>;
  /** The output of the run, which the fast path repeats. */
  said: Said;
};

function fileOf(root: string, request: unknown): string {
  const name = hash("sha256", canonicalJson(request)).slice(0, 24);
  return join(statePaths(root).memory, "unchanged", `${name}.json`);
}

/** Sends every next run the normal path: a check found damage in what no snapshot covers. */
export function forgetUnchanged(state: Pick<StateFolder, "memory">): void {
  rmSync(join(state.memory, "unchanged"), { recursive: true, force: true });
}

/** Returns the output of the last run for this request, or undefined if anything that the run consulted has changed. */
export function saidUnchanged<Said>(at: {
  repository: string;
  root: string;
  request: unknown;
}): Said | undefined {
  const { repository, root } = at;
  checkFormat(root);
  const file = fileOf(root, at.request);
  const held = readMemory<Unchanged<Said>>(file, 1);
  if (held?.node !== process.version) return undefined;
  try {
    // the normal path clears the files of a killed run
    if (readdirSync(join(root, ".mlrb", "work")).length > 0) return undefined;
    const touched = touchedOnly(repository, held);
    if (!touched) return undefined;
    // a file that was touched within the last second could change without a change of its stat
    const isNew = !touched.fresh && Object.keys(touched.stats).length > 0;
    // a check may have removed it meanwhile
    if (isNew && existsSync(file)) {
      const now: Unchanged<Said> = { ...held, stats: { ...held.stats, ...touched.stats } };
      writeMemory(file, now);
    }
    return held.said;
  } catch {
    return undefined;
  }
}

/**
 * Stores the snapshot and the output of a successful run. `more`: absolute paths that must not change. `files`
 * gives the digests of sources. `isCurrent` is asked after the stats: what arrived during the run is noticed by
 * it, or by the next run.
 */
export function rememberUnchanged<Said>(
  at: { repository: string; root: string; request: unknown },
  run: { consulted: Consulted; more: string[]; files: FileDigests; isCurrent: () => boolean; said: Said },
): void {
  const { repository, root } = at;
  const { consulted, more, files, isCurrent, said } = run;
  const seen = seenBy(consulted);
  if (!seen) return;
  const digests = files.ofSeen(seen.stats);
  for (const path of more) seen.stats[path] = statText(repository, path);
  if (!isCurrent()) return;
  const held: Unchanged<Said> = { formatVersion: 1, node: process.version, ...seen, digests, said };
  writeMemory(fileOf(root, at.request), held);
}
