// Finds attempts whose keys are of format 1. That format kept neither dotfiles, links, executable bits nor docstrings
// of what was handed over to an agent, nor the variables that it sees. An attempt is not made again for bits that its
// record never kept: they count as equal, and what is shown of it says that it is keyed by format 1.

import { actionKey } from "@mlrb/core/key/action-key";
import { changes } from "@mlrb/core/key/reasons";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { attemptOf } from "../attempts/attempt-folders.ts";
import type { Workspace } from "../store/workspace.ts";

type Keyed = { key: string; parts: KeyParts };

/** `now` under the key by which its attempt is found: its own, or that of an equal attempt of format 1. */
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

/** What differs between a record of format 1 and now. A parameter that the record lacks and that is not set does not. */
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
