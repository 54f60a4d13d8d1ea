// Finds the running attempt that a user names: by the beginning of its folder's name, or by its stage instance.
import { stageMatcher } from "@mlrb/core/plan/select-instances";
import { attemptId } from "@mlrb/core/ports/attempt-wait";
import { type AttemptFolder, attemptFolders } from "@mlrb/local/attempts/attempt-folders";
import type { StateFolder } from "@mlrb/local/store/state-folder";

/** A text is the reason that there is not exactly one. Without `what`: the only one. `kinds`: the states to look in. */
export function findRunning(
  what: string | undefined,
  { state }: { state: Pick<StateFolder, "running"> },
  kinds: readonly AttemptFolder["state"]["kind"][] = ["running"],
): AttemptFolder | string {
  const all = attemptFolders(state.running).filter((one) => kinds.includes(one.state.kind));
  const found = what === undefined ? all : namedBy(what, all);
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    const which =
      what === undefined
        ? "several attempts are running"
        : `"${what}" names ${found.length} running attempts`;
    return `several-attempts: ${which}; nothing was done\n  help: one of ${found.map(nameWords).join(", ")}`;
  }
  const going = all.map(({ card }) => card.slot.stage);
  const which = going.length > 0 ? `; running: ${going.join(", ")}` : "";
  return `no-such-attempt: no attempt ${what === undefined ? "" : `${what} `}is running here${which}`;
}

/** By their stage instance, else by their ID or its beginning, else by a pattern of stage instances. */
export function namedBy<One extends Pick<AttemptFolder, "name" | "card">>(what: string, all: One[]): One[] {
  const matches = stageMatcher(what);
  const ways = [
    ({ card }: One) => card.slot.stage === what,
    (one: One) => isNamed(one, what),
    ({ card }: One) => what.trim() !== "" && matches(card.slot.stage),
  ];
  return ways.map((isMeant) => all.filter(isMeant)).find((found) => found.length > 0) ?? [];
}

/** By its ID, or by the beginning of its ID, of at least four characters. */
export function isNamed({ name }: Pick<AttemptFolder, "name">, what: string): boolean {
  return name.startsWith(what) && what.length >= 4;
}

function nameWords({ name, card: { slot } }: AttemptFolder): string {
  return `${attemptId(name)} (${slot.pipeline} (${slot.profile}) ${slot.stage})`;
}
