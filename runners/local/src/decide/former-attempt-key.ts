// Finds attempts with keys of format 1, and attempts with a full network whose keys have no network. Keys of format 1
// omit dotfiles, links, executable bits and docstrings of the agent's files, and the variables that the agent saw. An
// attempt is not rerun for parts that its record lacks: they count as equal, and the reasons show key format 1.

import { actionKey, partsBeforeNetwork } from "@mlrb/core/key/action-key";
import { changes } from "@mlrb/core/key/reasons";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { attemptOf } from "../attempts/attempt-folders.ts";
import type { Workspace } from "../store/workspace.ts";

type Keyed = { key: string; parts: KeyParts };

/** Returns the key and parts under which the attempt is found: its own, or those of an equal attempt of earlier versions. */
export function heldUnder(
  now: Keyed,
  former: KeyParts,
  { instance, plan, workspace }: { instance: Instance; plan: Plan; workspace: Workspace },
): Keyed {
  const { attempts } = workspace;
  const isHeld = (key: string) => attempts.has(key) || attemptOf(key, workspace) !== undefined;
  if (isHeld(now.key)) return now;
  const open = partsBeforeNetwork(now.parts);
  const openKey = open && actionKey(open);
  const maker = openKey && (attempts.find(openKey)?.record ?? attemptOf(openKey, workspace)?.card);
  if (maker && keyedBeforeNetwork(maker)) return { key: openKey, parts: open };
  const formerKey = actionKey(former);
  if (isHeld(formerKey)) return { key: formerKey, parts: former };
  const record = attempts.inSlot({ ...plan, stage: instance.id })?.record;
  if (record?.parts.keyFormat !== 1 || formerChanges(record.parts, former).length > 0) return now;
  return { key: record.attemptKey, parts: record.parts };
}

/** Code of the harness: all versions have the first folder, those whose keys have the network also the second. */
const harnessFolder = "runners/agents/src/";
const gatewayFolder = `${harnessFolder}hub/`;

/**
 * Whether the attempt was made before keys had the network, so that its parts do not say which one it had. Parts of a
 * later attempt without a network look the same, so the harness on record decides.
 */
export function keyedBeforeNetwork({ harness, parts }: Pick<AttemptRecord, "harness" | "parts">): boolean {
  if (parts.network !== undefined) return false;
  const files = Object.keys(harness);
  const has = (folder: string) => files.some((file) => file.startsWith(folder));
  return parts.keyFormat === 1 || (has(harnessFolder) && !has(gatewayFolder));
}

/**
 * Whether the attempt was made in the condition that the plan says. A record from before keys had the network counts as
 * equal where the plan says `full`.
 */
export function hasNetwork(
  record: Pick<AttemptRecord, "harness" | "parts">,
  network: KeyParts["network"],
): boolean {
  return record.parts.network === network || (network === "full" && keyedBeforeNetwork(record));
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
