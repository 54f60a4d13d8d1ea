// Finds an earlier success of an instance's action: in the action cache, or among the records of attempts.

import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { attemptOf } from "../attempts/attempt-folders.ts";
import { environmentReady } from "../process/environments.ts";
import type { HeldRecord, RecordSearch } from "../records/attempt-records.ts";
import type { Workspace } from "../store/workspace.ts";
import type { Bound } from "./bind-inputs.ts";

/** The outputs of an earlier action with the same key. */
export type CachedAction = {
  outputs: Record<string, Artifact>;
  durationMs: number;
  record?: HeldRecord;
  /** The signer of a result that was taken from the remote cache just now. */
  remote?: string;
  /** Digests of imported records that compete with the record and are not used. */
  undecided?: readonly string[];
};

export type CacheSearch =
  | { kind: "found"; cached: CachedAction }
  | Exclude<RecordSearch, { kind: "found" | "none" }>
  | { kind: "output-missing" }
  | { kind: "none" };

/** Throws DamagedRecord if an unreadable record may belong to this attempt. */
export function findCachedAction(
  instance: Instance,
  bound: Bound,
  { plan, workspace }: { plan: Plan; workspace: Workspace },
): CacheSearch {
  if (instance.stage.name === environmentStage) {
    const isReady = environmentReady(bound.environment!.path);
    return isReady ? { kind: "found", cached: { outputs: {}, durationMs: 0 } } : { kind: "none" };
  }
  if (instance.stage.durable) return findAttempt(bound.key, { ...plan, stage: instance.id }, workspace);
  const entry = workspace.actions.get(bound.key);
  if (!entry) return { kind: "none" };
  const { outputs, ran } = entry;
  return isComplete(outputs, instance, workspace)
    ? { kind: "found", cached: { outputs, durationMs: ran.durationMs } }
    : { kind: "output-missing" };
}

function findAttempt(key: string, slot: AttemptRecord["slot"], workspace: Workspace): CacheSearch {
  const { attempts } = workspace;
  const goesOn = () => attemptOf(key, workspace) !== undefined; // it is running: the run adopts it
  if (!attempts.has(key) && goesOn()) return { kind: "none" };
  const search = attempts.search(key, slot);
  if (search.kind === "found")
    return {
      kind: "found",
      cached: { ...foundRecord(search.held, workspace), undecided: search.undecided },
    };
  if (goesOn()) return { kind: "none" };
  if (search.kind !== "none") return search;
  attempts.throwIfUnknown();
  return { kind: "none" };
}

/** Whether the store has all outputs, but for thinned weights. For a published output, every byte is read. */
function isComplete(
  outputs: Record<string, Artifact>,
  { stage }: Instance,
  { store, attempts }: Workspace,
): boolean {
  return Object.values(outputs).every(
    (output) => store.canGive(output, attempts.isThinned) && (!stage.publishes || store.isWhole(output)),
  );
}

/** Returns a record as a cached action. Restores its outputs to the store if the cache was deleted. */
export function foundRecord(found: HeldRecord, workspace: Workspace): CachedAction {
  workspace.attempts.ensureStored(found.digest, found.record);
  const { outputs, ran } = found.record;
  const plain = Object.entries(outputs).map(([name, { kind, digest }]) => [name, { kind, digest }]);
  return { outputs: Object.fromEntries(plain), durationMs: ran.durationMs, record: found };
}
