// What a machine has and what a stage holds of it while it runs, as rows of whole numbers: taking and
// giving back can never drift, and a hundred thousand instances are compared by position, not by name.

export type Resources = {
  /** May be a fraction. */
  cpus: number;
  memoryBytes: number;
  gpus: number;
  /** By name; what is not there is none. */
  pools?: Readonly<Record<string, number>>;
};

/** Thousandths of a CPU, bytes, GPUs, then each pool in the order of their names. */
export type Amounts = readonly number[];

/** Where the CPUs stand: everything holds some, so that nothing starts once they are gone. */
export const cpusAt = 0;

/**
 * All that there is, and what a stage holds of it. More than all counts as all: such a stage runs alone
 * instead of never. A pool that `capacity` does not name is not counted.
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
  const known = new WeakMap<Resources, Amounts>(); // instances of one stage share what they want
  return {
    whole,
    wants(resources) {
      let wanted = known.get(resources);
      if (!wanted) {
        wanted = row(resources).map((amount, at) => Math.min(amount, whole[at]!));
        known.set(resources, wanted);
      }
      return wanted;
    },
  };
}
