// Draws the contents of a family's slots: letters, numbers, and sometimes a small compound. Random numbers are
// hashes of the family's name and a counter, so a family's draws do not depend on other families.
import { createHash } from "node:crypto";
import { naturals, numeral, predicates, propositions, type Term } from "./terms.ts";

/** A whole number from 0 to `below` - 1. */
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

/** Draws for the slots of one statement. No letter is drawn twice. */
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
