// Draws what stands in the slots of a family: letters, numbers, and now and then a small compound.
// Chance is a hash of the family's name and a count, so that a family draws the same whatever the others do.
import { createHash } from "node:crypto";
import { naturals, numeral, predicates, propositions, type Term } from "./terms.ts";

/** A whole number from 0 to below `below`. */
export type Chance = (below: number) => number;

export function chanceOf(name: string): Chance {
  let count = 0;
  return (below) => {
    const hash = createHash("sha256").update(`${name}:${count++}`).digest();
    return hash.readUInt32BE() % below;
  };
}

/** One of every six slots holds a compound. */
const compoundEvery = 6;

/** What one statement's slots are filled from; no letter is drawn twice. */
export function slotsOf(chance: Chance) {
  const left = { proposition: propositions, natural: naturals, predicate: predicates };
  const letter = (kind: keyof typeof left): string => {
    const drawn = left[kind][chance(left[kind].length)];
    if (drawn === undefined) throw new Error(`bug: no ${kind} is left to draw`);
    left[kind] = left[kind].filter((other) => other !== drawn);
    return drawn;
  };
  const compound = () => chance(compoundEvery) === 0;
  const one = <T>(options: T[]): T => options[chance(options.length)] as T;
  return {
    one,
    letter,
    proposition(): Term {
      const first = letter("proposition");
      return compound() ? [one(["And", "Or"]), first, letter("proposition")] : first;
    },
    natural(): Term {
      const first = letter("natural");
      return compound() ? [one(["plus", "times"]), first, letter("natural")] : first;
    },
    numeral: (from: number, to: number): string => numeral(from + chance(to - from + 1)),
  };
}

export type Slots = ReturnType<typeof slotsOf>;
