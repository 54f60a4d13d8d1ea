// Who gets which GPUs, over everything that waits for some on a host: first come, first served, all that one
// asks for or none. What is free and of use to one that waits is kept for it, so that a request for many is
// not starved by those for few; whoever came later gets only what delays nobody before it.
// Pure.

export type Waiting = {
  /** Whoever came first has the lowest. */
  id: number;
  wants: number;
  /** UUIDs of those that would do. */
  candidates: readonly string[];
};

/** The devices for `id`, or undefined as long as it has to wait. `waiting` are all that wait, `id` among them. */
export function grantTo(id: number, waiting: readonly Waiting[], freeNow: Iterable<string>) {
  const free = new Set(freeNow);
  const inOrder = [...waiting].sort((a, b) => a.id - b.id);
  for (const [at, one] of inOrder.entries()) {
    const others = inOrder.slice(at + 1);
    const wantedBy = (uuid: string) => others.filter(({ candidates }) => candidates.includes(uuid)).length;
    const usable = one.candidates
      .filter((uuid) => free.has(uuid))
      .sort((a, b) => wantedBy(a) - wantedBy(b) || one.candidates.indexOf(a) - one.candidates.indexOf(b));
    // as long as strangers or defects leave too few, it has no use for any
    if (one.candidates.length < one.wants) {
      if (one.id === id) return undefined;
      continue;
    }
    if (one.id === id) return usable.length < one.wants ? undefined : usable.slice(0, one.wants);
    for (const uuid of usable.slice(0, one.wants)) free.delete(uuid);
  }
  return undefined;
}
