// The resources of a machine and of a running stage as arrays of integers: sums never drift, and a hundred
// thousand instances are compared by position instead of by name.

export type Resources = {
  /** May be a fraction. */
  cpus: number;
  memoryBytes: number;
  gpus: number;
  /** By name; a missing one is 0. */
  pools?: Readonly<Record<string, number>>;
};

/** Thousandths of a CPU, bytes, GPUs, then each pool in the order of their names. */
export type Amounts = readonly number[];

/** The index of the CPUs: every instance holds some, so nothing starts once they are used up. */
export const cpusAt = 0;

/**
 * The whole capacity, and the amounts that a stage holds. Requests above the capacity are cut to it: such a stage
 * runs alone instead of never. A pool that `capacity` does not name is not counted.
 */
export function amountsOf(capacity: Resources): {
  whole: Amounts;
  wants: (resources: Resources) => Amounts;
} {
  const pools = Object.keys(capacity.pools ?? {}).sort();
  const row = ({ cpus, memoryBytes, gpus, pools: held = {} }: Resources): Amounts => [
    Math.max(1, Math.round(cpus * 1000)),
    Math.ceil(memoryBytes),
    gpus,
    ...pools.map((pool) => (Object.hasOwn(held, pool) ? held[pool]! : 0)),
  ];
  const whole = row(capacity);
  const known = new WeakMap<Resources, Amounts>(); // instances of one stage share their resources
  return {
    whole,
    wants: (resources) =>
      known.getOrInsertComputed(resources, () =>
        row(resources).map((amount, at) => Math.min(amount, whole[at]!)),
      ),
  };
}
