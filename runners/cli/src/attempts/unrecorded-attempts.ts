// Every attempt without a record, with its cost so far: running, ended but not recorded yet, and lost (quarantined
// or not). All sums use this list.
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import type { AttemptCost } from "@mlrb/formats/attempt/attempt-record";
import { heldMs, spentBy } from "@mlrb/local/attempts/attempt-cost";
import { attemptFate, type Fate } from "@mlrb/local/attempts/attempt-fate";
import { attemptFolders } from "@mlrb/local/attempts/attempt-folders";
import { lostAttempts } from "@mlrb/local/attempts/lost-attempts";
import { causeWords } from "@mlrb/local/attempts/quarantine";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import type { StateFolder } from "@mlrb/local/store/state-folder";

export type Unrecorded = {
  kind: "running" | "ended" | "lost";
  name: string;
  card: AttemptCard;
  durationMs: number;
  cost: AttemptCost;
  /** Of a quarantined attempt. */
  left?: { cause: unknown; folder: string };
  /** A note for people; empty for a running attempt. */
  words: string;
};

/**
 * `recorded` reads the records. It is called after the folders were read, since a folder goes once its record is
 * there: in the other order an attempt that is recorded meanwhile would be in neither. A run killed right after it
 * wrote a record leaves both.
 */
export function unrecordedAttempts(state: StateFolder, recorded: () => HeldRecord[]): Unrecorded[] {
  const here = attemptFolders(state.running).flatMap((one): Unrecorded[] => {
    const kind = kindOf(attemptFate(one.path, state.root));
    if (kind === undefined) return []; // it has been moved
    const durationMs = heldMs(one, one.state.kind === "ended" ? one.state.end.durationMs : undefined);
    const { cost } = spentBy(one, durationMs);
    return [{ name: one.name, card: one.card, durationMs, cost, ...kind }];
  });
  const lost = lostAttempts(state).map(({ name, card, left }): Unrecorded => {
    const { cause, folder, cost, durationMs } = left;
    return { kind: "lost", name, card, durationMs, cost, left: { cause, folder }, words: causeWords(cause) };
  });
  const moved = new Set(lost.map(({ name }) => name));
  const known = new Set(recorded().map(({ record }) => `${record.attemptKey} ${record.ran.startedAt}`));
  return [...here.filter(({ name }) => !moved.has(name)), ...lost].filter(
    ({ card }) => !known.has(`${card.key} ${card.startedAt}`),
  );
}

/** undefined if the attempt has left the folder. */
function kindOf(fate: Fate): Pick<Unrecorded, "kind" | "words"> | undefined {
  switch (fate.kind) {
    case "quarantined":
    case "gone":
      return undefined;
    case "going":
      return { kind: "running", words: "" };
    case "ending":
      return { kind: "running", words: "is being stopped" };
    case "complete":
      return { kind: "ended", words: "the next run records it" };
    case "broken-off":
      return {
        kind: "running",
        words: `${causeWords(fate.cause)}; the next run continues it if its inputs are those with which it began`,
      };
    case "failed":
      return {
        kind: "lost",
        words: `${causeWords(fate.cause)}; the next run moves it to .mlrb/attempts/lost`,
      };
  }
}
