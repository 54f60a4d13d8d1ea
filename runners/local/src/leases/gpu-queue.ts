// Decides which waiting request of a host gets which GPUs: first come, first served, all devices of a request or
// none. Free devices that a waiting request can use are reserved for it, so that small requests do not starve a large
// one. A later request gets only devices that delay no earlier one.
// Pure.

export type Waiting = {
  /** The earliest request has the lowest id. */
  id: number;
  wants: number;
  /** UUIDs of suitable devices. */
  candidates: readonly string[];
};

/**
 * Returns the devices for `id`, or undefined while the request has to wait. `waiting`: all waiting requests,
 * including `id`.
 */
export function grantTo(id: number, waiting: readonly Waiting[], freeNow: Iterable<string>) {
  const free = [...freeNow];
  const granted = choiceOf(id, waiting, free);
  if (granted === undefined) return undefined;
  // which devices a request prefers depends on who else waits, so an earlier one may need another device without `id`
  const left = free.filter((uuid) => !granted.includes(uuid));
  const rest = waiting.filter((one) => one.id !== id);
  const delays = rest.some(
    (one) => one.id < id && choiceOf(one.id, waiting, free) && !choiceOf(one.id, rest, left),
  );
  return delays ? undefined : granted;
}

function choiceOf(id: number, waiting: readonly Waiting[], freeNow: Iterable<string>) {
  const free = new Set(freeNow);
  const inOrder = [...waiting].sort((a, b) => a.id - b.id);
  for (const [at, one] of inOrder.entries()) {
    const others = inOrder.slice(at + 1);
    const wantedBy = (uuid: string) => others.filter(({ candidates }) => candidates.includes(uuid)).length;
    const usable = one.candidates
      .filter((uuid) => free.has(uuid))
      .sort((a, b) => wantedBy(a) - wantedBy(b) || one.candidates.indexOf(a) - one.candidates.indexOf(b));
    // while other processes or defects leave too few devices, the request can use none of them
    if (one.candidates.length < one.wants) {
      if (one.id === id) return undefined;
      continue;
    }
    if (one.id === id) return usable.length < one.wants ? undefined : usable.slice(0, one.wants);
    for (const uuid of usable.slice(0, one.wants)) free.delete(uuid);
  }
  return undefined;
}
