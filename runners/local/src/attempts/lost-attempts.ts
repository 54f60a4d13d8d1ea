// The attempts in `lost/`, which ended without a record. Their cost counts. A replacement attempt costs again.

import { join } from "node:path";
import type { Reason } from "@mlrb/core/key/reasons";
import type { EndCause } from "@mlrb/formats/attempt/attempt-end";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import { slotName } from "../records/attempt-records.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { heldMs, spentBy } from "./attempt-cost.ts";
import { type AttemptFolder, attemptFolders, type PlacedAttempt } from "./attempt-folders.ts";
import { lostCause } from "./lost-words.ts";
import { causeWords, keptWords, type Quarantined, quarantineIn } from "./quarantine.ts";

export type LostAttempt = PlacedAttempt & { left: Quarantined };

type Lost = Reason & { kind: "lost" };

type Place = Pick<StateFolder, "attempts" | "root">;

/** Sorted by name. Where cause.json cannot be read, the cost is read from the remaining files. */
export function lostAttempts({ attempts, root }: Place): LostAttempt[] {
  return attemptFolders(join(attempts, "lost")).map(({ name, path, card }) => {
    const left = quarantineIn(path, root) ?? withoutCause({ path, card }, root, unreadable);
    return { name, path, card, left };
  });
}

/** Running ones in this state, which no run has quarantined. */
function unsettled({ attempts, root }: Place, isWanted: (one: AttemptFolder) => boolean): LostAttempt[] {
  return attemptFolders(join(attempts, "running"))
    .filter(isWanted)
    .map(({ name, path, card }) => {
      return { name, path, card, left: withoutCause({ path, card }, root, lostCause(path)) };
    });
}

/** Includes attempts that no run has quarantined yet: their run and supervisor are dead. */
function allLost(place: Place): LostAttempt[] {
  const isLost = ({ state }: AttemptFolder) => state.kind === "lost" && state.supervisor !== undefined;
  return [...lostAttempts(place), ...unsettled(place, isLost)];
}

/** In this slot, with another key: such an attempt can continue, but is replaced like a lost one. */
function brokenOff(name: string, key: string, place: Place): LostAttempt[] {
  const isOther = ({ state, card }: AttemptFolder) =>
    state.kind === "resumable" && card.key !== key && slotName(card.slot) === name;
  return unsettled(place, isOther).map((one) => {
    const { cause } = one.left;
    const detail = `${cause.detail}; it continues only with the inputs with which it began; ${keptWords(one.left)}`;
    return { ...one, left: { ...one.left, cause: { ...cause, detail } } };
  });
}

const unreadable: EndCause = { kind: "supervisor-lost", detail: "its cause.json cannot be read" };

function withoutCause(at: Omit<PlacedAttempt, "name">, root: string, cause: EndCause): Quarantined {
  const durationMs = heldMs(at);
  const folder = at.path.slice(root.length + 1);
  return { formatVersion: 1, cause, durationMs, ...spentBy(at, durationMs), folder };
}

/** The newest lost attempt with this key, or else in this slot. */
export function lostAttempt(slot: AttemptRecord["slot"], key: string, place: Place): Lost | undefined {
  const name = slotName(slot);
  const inSlot = allLost(place).filter(({ card }) => slotName(card.slot) === name);
  return lostOfKey(key, place) ?? newest([...inSlot, ...brokenOff(name, key, place)]);
}

/** The same where the slot has a record, next to which only what still waits for a decision is told. */
export function lostBesideRecord(slot: AttemptRecord["slot"], key: string, place: Place): Lost | undefined {
  return lostOfKey(key, place) ?? newest(brokenOff(slotName(slot), key, place));
}

/** The newest lost attempt with this key. */
function lostOfKey(key: string, place: Place): Lost | undefined {
  return newest(allLost(place).filter(({ card }) => card.key === key));
}

function newest(found: LostAttempt[]): Lost | undefined {
  const one = found.sort((a, b) => (a.card.startedAt < b.card.startedAt ? -1 : 1)).at(-1);
  if (!one) return undefined;
  const { card, left } = one;
  return { kind: "lost", since: card.startedAt, cause: causeWords(left.cause), folder: left.folder };
}
