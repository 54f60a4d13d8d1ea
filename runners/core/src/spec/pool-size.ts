// The size of a pool. `PREFIX*` stands for a pool of each name with this prefix, so that a preset with a new
// provider is bounded without an edit of the pipeline. Pure.

type Pools = Readonly<Record<string, number>>;

/** By its own name, else by the longest matching `PREFIX*`; undefined if there is no such pool. */
export function poolSize(pools: Pools, name: string): number | undefined {
  if (Object.hasOwn(pools, name)) return pools[name];
  const fitting = Object.keys(pools)
    .filter((key) => key.endsWith("*") && name.startsWith(key.slice(0, -1)))
    .sort((a, b) => b.length - a.length);
  return fitting[0] === undefined ? undefined : pools[fitting[0]];
}

/** The pools that stages take from, each by its own name, and those that the pipeline names. */
export function poolsTaken(pools: Pools, takers: { pools: Pools }[]): Record<string, number> {
  const taken = new Set(takers.flatMap((taker) => Object.keys(taker.pools)));
  const sizes = [...taken].flatMap((name) => {
    const size = poolSize(pools, name);
    return size === undefined ? [] : [[name, size] as const];
  });
  const named = Object.entries(pools).filter(([name]) => !name.endsWith("*"));
  return Object.fromEntries([...named, ...sizes]);
}
