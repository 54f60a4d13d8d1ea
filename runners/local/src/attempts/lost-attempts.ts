// The attempts in `lost/`, which ended without a record. Their cost counts. A replacement attempt costs again.

import { join } from "node:path";
import type { Reason } from "@mlrb/core/key/reasons";
import type { EndCause } from "@mlrb/formats/attempt/attempt-end";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { slotName } from "../records/attempt-records.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { heldMs, spentBy } from "./attempt-cost.ts";
import { attemptFolders, type PlacedAttempt } from "./attempt-folders.ts";
import { lostCause } from "./lost-words.ts";
import { causeWords, keptWords, type Quarantined, quarantineIn } from "./quarantine.ts";

export type LostAttempt = PlacedAttempt & { left: Quarantined };

type Place = Pick<StateFolder, "attempts" | "root">;

/** Sorted by name. Where cause.json cannot be read, the cost is read from the remaining files. */
export function lostAttempts({ attempts, root }: Place): LostAttempt[] {
  return attemptFolders(join(attempts, "lost")).map(({ name, path, card }) => ({
    ...{ name, path, card },
    left: quarantineIn(path, root) ?? withoutCause({ path, card }, root, unreadable),
  }));
}

/** Includes attempts that no run has quarantined yet: their run and supervisor are dead. */
function allLost(place: Place): LostAttempt[] {
  const { attempts, root } = place;
  const left = attemptFolders(join(attempts, "running"))
    .filter(({ state }) => state.kind === "lost" && state.supervisor !== undefined)
    .map(({ name, path, card }) => ({
      ...{ name, path, card },
      left: withoutCause({ path, card }, root, lostCause(path)),
    }));
  return [...lostAttempts(place), ...left];
}

/** Attempts that can continue. With another key than the planned one, an attempt is replaced like a lost one. */
function brokenOff({ attempts, root }: Place): LostAttempt[] {
  return attemptFolders(join(attempts, "running"))
    .filter(({ state }) => state.kind === "resumable")
    .map(({ name, path, card }) => {
      const left = withoutCause({ path, card }, root, lostCause(path));
      const detail = `${left.cause.detail}; it continues only with the inputs with which it began; ${keptWords(left)}`;
      return { name, path, card, left: { ...left, cause: { ...left.cause, detail } } };
    });
}

const unreadable: EndCause = { kind: "supervisor-lost", detail: "its cause.json cannot be read" };

function withoutCause(
  { path, card }: Omit<PlacedAttempt, "name">,
  root: string,
  cause: EndCause,
): Quarantined {
  const durationMs = heldMs({ path, card });
  return {
    formatVersion: 1,
    cause,
    durationMs,
    ...spentBy({ path, card }, durationMs),
    folder: path.slice(root.length + 1),
  };
}

/** The newest lost attempt with this key, or else in this slot. */
export function lostAttempt(
  slot: AttemptRecord["slot"],
  key: string,
  place: Place,
): (Reason & { kind: "lost" }) | undefined {
  const name = slotName(slot);
  const found = [...allLost(place), ...brokenOff(place).filter(({ card }) => card.key !== key)];
  return lostOfKey(key, place) ?? newest(found.filter(({ card }) => slotName(card.slot) === name));
}

/** The same where the slot has a record, next to which only what still waits for a decision is told. */
export function lostBesideRecord(
  slot: AttemptRecord["slot"],
  key: string,
  place: Place,
): (Reason & { kind: "lost" }) | undefined {
  const name = slotName(slot);
  const others = brokenOff(place).filter(({ card }) => card.key !== key && slotName(card.slot) === name);
  return lostOfKey(key, place) ?? newest(others);
}

/** The newest lost attempt with this key. */
function lostOfKey(key: string, place: Place): (Reason & { kind: "lost" }) | undefined {
  return newest(allLost(place).filter(({ card }) => card.key === key));
}

function newest(found: LostAttempt[]): (Reason & { kind: "lost" }) | undefined {
  const one = found.sort((a, b) => (a.card.startedAt < b.card.startedAt ? -1 : 1)).at(-1);
  if (!one) return undefined;
  const { card, left } = one;
  return { kind: "lost", since: card.startedAt, cause: causeWords(left.cause), folder: left.folder };
}
