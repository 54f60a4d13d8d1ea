// Finds attempts with keys of format 1. Those keys omit dotfiles, links, executable bits and docstrings of the
// agent's files, and the variables that the agent saw. An attempt is not rerun for parts that its record lacks: they
// count as equal, and the reasons show key format 1.

import { actionKey } from "@mlrb/core/key/action-key";
import { changes } from "@mlrb/core/key/reasons";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { attemptOf } from "../attempts/attempt-folders.ts";
import type { Workspace } from "../store/workspace.ts";

type Keyed = { key: string; parts: KeyParts };

/** Returns the key and parts under which the attempt is found: its own, or those of an equal attempt of format 1. */
export function heldUnder(
  now: Keyed,
  former: KeyParts,
  { instance, plan, workspace }: { instance: Instance; plan: Plan; workspace: Workspace },
): Keyed {
  const { attempts } = workspace;
  const isHeld = (key: string) => attempts.has(key) || attemptOf(key, workspace) !== undefined;
  if (isHeld(now.key)) return now;
  const formerKey = actionKey(former);
  if (isHeld(formerKey)) return { key: formerKey, parts: former };
  const record = attempts.inSlot({ ...plan, stage: instance.id })?.record;
  if (record?.parts.keyFormat !== 1 || formerChanges(record.parts, former).length > 0) return now;
  return { key: record.attemptKey, parts: record.parts };
}

/** Compares a record of format 1 with the present parts. An unset parameter equals a missing one. */
export function formerChanges(
  record: KeyParts,
  former: KeyParts,
  stageOf: (input: string) => string | undefined = () => undefined,
): ReturnType<typeof changes> {
  return changes(onlySet(record), onlySet(former), stageOf);
}

function onlySet(parts: KeyParts): KeyParts {
  return {
    ...parts,
    params: Object.fromEntries(Object.entries(parts.params).filter(([, one]) => one !== null)),
  };
}
