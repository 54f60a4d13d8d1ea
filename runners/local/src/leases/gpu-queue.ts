// Decides which waiting request of a host gets which GPUs: first come, first served, all devices of a request or
// none. Free devices that a waiting request can use are reserved for it, so that small requests do not starve a
// large one. A later request gets only devices that delay no earlier one. Pure.

export type Waiting = {
  /** The earliest request has the lowest id. */
  id: number;
  wants: number;
  /** UUIDs of suitable devices. */
  candidates: readonly string[];
};

/**
 * Returns the devices for `id`, or undefined while the request has to wait. `waiting`: all waiting requests,
 * including `id`. What is reserved for an earlier request does not depend on later ones, so that a grant to a
 * later one takes nothing from it.
 */
export function grantTo(id: number, waiting: readonly Waiting[], freeNow: Iterable<string>) {
  const free = new Set(freeNow);
  const inOrder = [...waiting].sort((a, b) => a.id - b.id);
  for (const [at, one] of inOrder.entries()) {
    const usable = one.candidates.filter((uuid) => free.has(uuid));
    if (one.id === id) {
      const others = inOrder.slice(at + 1);
      const wantedBy = (uuid: string) => others.filter(({ candidates }) => candidates.includes(uuid)).length;
      const chosen = usable.sort((a, b) => wantedBy(a) - wantedBy(b)).slice(0, one.wants);
      return chosen.length < one.wants ? undefined : chosen;
    }
    // while other processes or defects leave too few devices, a request can use none of them
    if (one.candidates.length < one.wants) continue;
    for (const uuid of usable.slice(0, one.wants)) free.delete(uuid);
  }
  return undefined;
}
