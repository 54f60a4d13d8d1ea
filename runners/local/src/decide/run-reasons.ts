// Returns the reasons to reuse an instance, to run it, and to call its record stale: the key parts that differ.

import { changes, type Reason, reasonWords } from "@mlrb/core/key/reasons";
import { environmentStage, type Instance, type Plan } from "@mlrb/core/plan/plan";
import type { Outcome } from "@mlrb/core/ports/outcome";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { attemptOf } from "../attempts/attempt-folders.ts";
import { lostAttempt, lostBesideRecord } from "../attempts/lost-attempts.ts";
import type { HeldRecord } from "../records/attempt-records.ts";
import { ifReadable } from "../store/if-readable.ts";
import type { Workspace } from "../store/workspace.ts";
import type { Bound } from "./bind-inputs.ts";
import type { CachedAction, CacheSearch } from "./find-cached-action.ts";

export function reasonsToReuse(cached: CachedAction): Reason[] {
  const origin = cached.record?.origin;
  return [
    { kind: "unchanged" },
    ...(origin ? [{ kind: "imported", signedBy: origin.signedBy } as const] : []),
    ...(cached.remote === undefined ? [] : [{ kind: "remote", signedBy: cached.remote } as const]),
    ...undecidedReasons(cached),
  ];
}

/** The imported records that compete for an attempt until a person decides; empty if there are none. */
export function undecidedReasons({ undecided = [] }: { undecided?: readonly string[] }): Reason[] {
  return undecided.length > 0 ? [{ kind: "undecided", records: [...undecided] }] : [];
}

/** The end of an attempt that neither runs nor uses any record, because only a person can choose one. */
export function undecidedFailure(found: { undecided: string[] }): Outcome & { kind: "failed" } {
  const detail = undecidedReasons(found).map(reasonWords).join("; ");
  return { kind: "failed", cause: "operator", detail };
}

/** Returns the reasons to run an instance whose action is not in the cache. */
export function reasonsToRun(
  instance: Instance,
  bound: Bound,
  context: {
    plan: Plan;
    workspace: Workspace;
    found: Exclude<CacheSearch, { kind: "found" | "undecided" }>;
  },
): Reason[] {
  const { plan, workspace, found } = context;
  if (found.kind === "output-missing") return [{ kind: "output-missing" }];
  if (found.kind === "none") return reasonsToMake(instance, bound, context);
  const lost = lostBesideRecord({ ...plan, stage: instance.id }, bound.key, workspace.state);
  return [
    staleReason(instance, bound, { held: found.held, plan }),
    ...undecidedReasons(found),
    ...(lost ? [lost] : []),
  ];
}

/** Lists the key parts that differ from those of a record. */
export function staleReason(
  instance: Instance,
  bound: Bound,
  { held, plan }: { held: HeldRecord; plan: Plan },
): Reason & { kind: "stale" } {
  const changed = differences(instance, bound, { plan, before: held.record });
  return { kind: "stale", record: held.digest, changed };
}

/** Puts a running or lost attempt first, then the differences from the last success. */
function reasonsToMake(
  instance: Instance,
  bound: Bound,
  { plan, workspace }: { plan: Plan; workspace: Workspace },
): Reason[] {
  if (instance.stage.name === environmentStage) return [{ kind: "environment-missing" }];
  const goesOn = instance.stage.durable && attemptOf(bound.key, workspace);
  if (goesOn) {
    const { state, card } = goesOn;
    const resumes = state.kind === "resumable";
    return [{ kind: "goes-on", since: card.startedAt, ...(resumes && { resumes }) }];
  }
  const lost =
    instance.stage.durable && lostAttempt({ ...plan, stage: instance.id }, bound.key, workspace.state);
  if (lost) return [lost];
  const last = workspace.last.get(instance.id);
  const before = last && earlier(instance, last.key, workspace);
  if (!before) return [{ kind: last ? "output-missing" : "first-run" }];
  return differences(instance, bound, { plan, before });
}

type Earlier = {
  parts: KeyParts;
  codeFiles?: Record<string, string>;
};

function earlier(instance: Instance, key: string, workspace: Workspace): Earlier | undefined {
  if (instance.stage.durable) return workspace.attempts.find(key)?.record;
  const entry = workspace.actions.get(key);
  if (!entry) return undefined;
  const { parts } = entry;
  const { store } = workspace;
  const codeFiles = ifReadable(() => JSON.parse(store.textOf(entry.codeFiles)) as Record<string, string>);
  return codeFiles ? { parts, codeFiles } : { parts }; // without them the reason names the script, not the file
}

/** What differs between the parts of two keys of an instance; `never-succeeded` if nothing does. */
export function differences(
  instance: Instance,
  bound: Pick<Bound, "parts" | "codeFiles">,
  { plan, before }: { plan: Plan; before: Earlier },
): Reason[] {
  const from = new Map(instance.inputs.map((input) => [input.name, plan.instances[input.from]!.id]));
  const stageOf = (input: string) => from.get(input);
  const reasons = changes(before.parts, bound.parts, stageOf).flatMap((reason): Reason[] => {
    const old = before.codeFiles;
    const { run } = instance.action;
    const isScript = reason.kind === "code-changed" && run.kind !== "command" && reason.file === run.file;
    if (!isScript || !old) return [reason];
    const files = Object.keys({ ...old, ...bound.codeFiles }).filter(
      (file) => old[file] !== bound.codeFiles[file],
    );
    return files.length > 0 ? files.sort().map((file) => ({ kind: "code-changed", file })) : [reason];
  });
  return reasons.length > 0 ? reasons : [{ kind: "never-succeeded" }];
}
