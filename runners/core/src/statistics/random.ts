// Reproducible random numbers. Simulations and resampling take a generator as an argument, so a seed gives the
// same numbers on every machine, and core uses no entropy.

export type Random = {
  /** Uniform over 0 … 2³² − 1. */
  bits32(): number;
  /** Uniform over 0 … below − 1, without bias (Lemire 2019); `below` up to 2²¹. */
  integer(below: number): number;
  /** Uniform over multiples of 2⁻⁵³ from 0 to under 1. */
  fraction(): number;
  /** Standard normal, by Marsaglia's polar method (1964). */
  normal(): number;
};

/**
 * xoshiro128** 1.1 (Blackman and Vigna, Scrambled linear pseudorandom number generators, 2021), its state
 * filled from `seed` (a whole number from 0 to 2³² − 1) by Weyl steps of 0x9e3779b9 through the finaliser of
 * MurmurHash3. Not for secrets.
 */
export function seededRandom(seed: number): Random {
  if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32) throw new Error(`bug: the seed ${seed}`);
  return randomOfState([1, 2, 3, 4].map((step) => scatter(seed + step * 0x9e3779b9)));
}

/** The generator from a state of four 32-bit numbers, not all zero. */
export function randomOfState(state: readonly number[]): Random {
  if (state.length !== 4 || state.every((word) => word === 0)) throw new Error("bug: no state of xoshiro128");
  let [a, b, c, d] = state as [number, number, number, number];
  let spare: number | undefined;

  function bits32(): number {
    const result = Math.imul(rotated(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotated(d, 11);
    return result;
  }

  function integer(below: number): number {
    if (!Number.isInteger(below) || below < 1 || below > 2 ** 21) throw new Error(`bug: below ${below}`);
    for (;;) {
      const product = bits32() * below; // under 2⁵³, so exact
      const low = product >>> 0;
      if (low >= below || low >= 2 ** 32 % below) return (product - low) / 2 ** 32;
    }
  }

  function fraction(): number {
    return ((bits32() >>> 5) * 2 ** 26 + (bits32() >>> 6)) / 2 ** 53;
  }

  function normal(): number {
    if (spare !== undefined) {
      const kept = spare;
      spare = undefined;
      return kept;
    }
    for (;;) {
      const x = 2 * fraction() - 1;
      const y = 2 * fraction() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      spare = y * scale;
      return x * scale;
    }
  }

  return { bits32, integer, fraction, normal };
}

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function scatter(word: number): number {
  let mixed = word | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
