// Repeatable random numbers, for the facts and the order of choices.

/** A whole number from 0 to `sides` - 1. */
export type Dice = (sides: number) => number;

/** Mulberry32 (Tommy Ettinger, 2017, public domain): 32 bits of state, uniform enough for tables of words. */
export function dice(seed: number): Dice {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * sides);
  };
}

/** A shuffled copy (Fisher and Yates). */
export function shuffled<T>(list: readonly T[], roll: Dice): T[] {
  const left = [...list];
  return list.map(() => left.splice(roll(left.length), 1)[0] as T);
}
