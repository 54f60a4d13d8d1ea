// Says whether what an instance would do was done before, and if not, what differs. The one place that
// tells reused, stale and new apart.

import { attemptKeyFormat } from "@mlrb/core/key/action-key";
import { changes, type Reason } from "@mlrb/core/key/reasons";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import type { KeyParts } from "@mlrb/formats/stage/action";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { attemptOf } from "../attempts/attempt-folders.ts";
import { lostAttempt, lostOfKey } from "../attempts/lost-attempts.ts";
import { environmentReady } from "../process/environments.ts";
import type { HeldRecord } from "../records/attempt-records.ts";
import type { Workspace } from "../store/workspace.ts";
import type { Bound } from "./bind-inputs.ts";
import { formerChanges } from "./former-attempt-key.ts";

/** What an equal action gave before. */
export type CachedAction = { outputs: Record<string, Artifact>; durationMs: number; record?: HeldRecord };

/** No equal action, but a record in the same slot made from other things: never rerun unasked. */
export type Stale = { stale: HeldRecord };

export type LookUpContext = { plan: Plan; workspace: Workspace };

/** What an equal action gave before, if all of it can still be had. */
export function lookUp(
  instance: Instance,
  bound: Bound,
  { plan, workspace }: LookUpContext,
): CachedAction | Stale | "output-missing" | undefined {
  if (instance.stage.name === environmentStage) {
    return environmentReady(bound.environment!.path) ? { outputs: {}, durationMs: 0 } : undefined;
  }
  if (instance.stage.durable) {
    const found = workspace.attempts.find(bound.key);
    if (found) return foundRecord(found, workspace);
    if (attemptOf(bound.key, workspace)) return undefined; // asked for once already: it goes on
    const stale = workspace.attempts.inSlot({ ...plan, stage: instance.id });
    if (stale) return { stale };
    workspace.attempts.throwIfUnknown();
    return undefined;
  }
  const entry = workspace.actions.get(bound.key);
  if (!entry || workspace.audit) return undefined; // what is not run cannot be traced
  return isComplete(entry.outputs, instance, workspace)
    ? { outputs: entry.outputs, durationMs: entry.ran.durationMs }
    : "output-missing";
}

/** Whether all that it gave can still be had; of what is laid out under results, whether every byte can. */
function isComplete(outputs: Record<string, Artifact>, { stage }: Instance, { store }: Workspace): boolean {
  return Object.values(outputs).every(
    (output) => store.canGive(output) && (!stage.publishes || store.isWhole(output)),
  );
}

/** A record as something to reuse; its outputs are put back into the store if the cache was deleted. */
export function foundRecord(found: HeldRecord, workspace: Workspace): CachedAction {
  workspace.attempts.ensureStored(found.digest, found.record);
  const { outputs, ran } = found.record;
  return { outputs: plainOutputs(outputs), durationMs: ran.durationMs, record: found };
}

function plainOutputs(outputs: Record<string, Artifact>): Record<string, Artifact> {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, { kind, digest }]) => [name, { kind, digest }]),
  );
}

/** Why an instance is reused. */
export function reasonsToReuse({ parts }: Bound, { stage }: Instance): Reason[] {
  const format = parts.keyFormat;
  if (!stage.durable || format === attemptKeyFormat) return [{ kind: "unchanged" }];
  return [{ kind: "unchanged" }, { kind: "keyed-by-format", format }];
}

/** Why an instance that was not found has to run: what differs from its last success. */
export function reasonsToRun(
  instance: Instance,
  bound: Bound,
  context: { plan: Plan; workspace: Workspace },
): Reason[] {
  const { plan, workspace } = context;
  if (instance.stage.name === environmentStage) return [{ kind: "environment-missing" }];
  const goesOn = instance.stage.durable && attemptOf(bound.key, workspace);
  if (goesOn) return [{ kind: "goes-on", since: goesOn.card.startedAt }];
  const lost =
    instance.stage.durable && lostAttempt({ ...plan, stage: instance.id }, bound.key, workspace.state);
  if (lost) return [lost];
  if (workspace.audit && !instance.stage.durable) return [{ kind: "audited" }];
  const last = workspace.last.get(instance.id);
  const before = last && earlier(instance, last.key, workspace);
  if (!before) return [{ kind: last ? "output-missing" : "first-run" }];
  return differences(instance, bound, { plan, before });
}

/** What makes a record stale: what it was made from that is now something else. */
export function reasonsStale(instance: Instance, bound: Bound, held: HeldRecord, plan: Plan): Reason[] {
  return differences(instance, bound, { plan, before: held.record });
}

/** Why a stale attempt is made again: also in the place of one that was lost, if it was tried before as it is now. */
export function reasonsToRerun(
  stale: Reason & { kind: "stale" },
  { key }: Bound,
  { state }: Workspace,
): Reason[] {
  const lost = lostOfKey(key, state);
  return lost ? [stale, lost] : [stale];
}

type Earlier = { parts: KeyParts; codeFiles?: Record<string, string> };

function earlier(instance: Instance, key: string, workspace: Workspace): Earlier | undefined {
  if (instance.stage.durable) return workspace.attempts.find(key)?.record;
  const entry = workspace.actions.get(key);
  if (!entry) return undefined;
  try {
    const codeFiles = JSON.parse(workspace.store.textOf(entry.codeFiles)) as Record<string, string>;
    return { parts: entry.parts, codeFiles };
  } catch {
    return { parts: entry.parts }; // no longer in the store: the script is named, not the file
  }
}

function differences(
  instance: Instance,
  bound: Bound,
  { plan, before }: { plan: Plan; before: Earlier },
): Reason[] {
  const from = new Map(instance.inputs.map((input) => [input.name, plan.instances[input.from]!.id]));
  const stageOf = (input: string) => from.get(input);
  const ofFormer = before.parts.keyFormat === 1 && bound.former;
  const changed = ofFormer
    ? formerChanges(before.parts, ofFormer, stageOf)
    : changes(before.parts, bound.parts, stageOf);
  const reasons = changed.flatMap((reason): Reason[] => {
    const old = before.codeFiles;
    if (reason.kind !== "code-changed" || !old) return [reason];
    const files = Object.keys({ ...old, ...bound.codeFiles }).filter(
      (file) => old[file] !== bound.codeFiles[file],
    );
    return files.length > 0 && reason.file === scriptOf(instance)
      ? files.sort().map((file) => ({ kind: "code-changed", file }))
      : [reason];
  });
  return reasons.length > 0 ? reasons : [{ kind: "never-succeeded" }];
}

function scriptOf(instance: Instance): string | undefined {
  return instance.action.run.kind === "command" ? undefined : instance.action.run.file;
}
