// Finds what a try of a paid attempt left when an error kept the run from settling it, e.g. a full disk.

import { join } from "node:path";
import type { StateFolder } from "../store/state-folder.ts";
import { attemptFolders, attemptOf, damagedAttempts } from "./attempt-folders.ts";
import { isElsewhere } from "./attempts-elsewhere.ts";

type Place = { state: Pick<StateFolder, "attempts" | "running"> };

/** Names of the attempts of this action key in `lost/`. */
export function lostNames(key: string, { state }: Place): Set<string> {
  const lost = attemptFolders(join(state.attempts, "lost")).filter(({ card }) => card.key === key);
  return new Set(lost.map(({ name }) => name));
}

/**
 * What the last try left: `adoptable`, the next try continues or keeps it and starts nothing; `other`, another
 * start would cost again. A try that produced and spent nothing leaves no folder. `before`: names in `lost/`
 * before the first try.
 */
export function leftAttempt(
  key: string,
  place: Place,
  before: ReadonlySet<string>,
): "adoptable" | "other" | undefined {
  const { running } = place.state;
  if (damagedAttempts(running).some((one) => one.mayHaveKey(key))) return "other";
  const held = attemptOf(key, place);
  if (held) return isElsewhere(held) ? "other" : "adoptable";
  // read first: an attempt may move to `lost/` meanwhile
  const left = attemptFolders(running).some(({ card }) => card.key === key);
  return left || lostNames(key, place).difference(before).size > 0 ? "other" : undefined;
}
