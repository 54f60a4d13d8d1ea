// Makes the invented facts and the questions about them. No answer can be known or guessed: a name does not hint
// at its answer, and in every four questions with the same wording each of the same four choices is right once. A
// model that ignores the name is right in exactly a quarter, whatever answers or letters it prefers.
import { type FactRow, inFours } from "../data/choice-rows.ts";
import { type Dice, dice, shuffled } from "./dice.ts";
import { type Relation, relations } from "./relations.ts";

export type Fact = { relation: Relation; name: string; answer: string };

/** A public row with the columns of databricks-dolly-15k. */
export type TrainRow = { instruction: string; context: string; response: string; category: string };

/** lm-eval's subject that asks the questions. It only sets the line before them. */
export const carrier = "miscellaneous";
/** The facts of a seed. The committed task has seed 1; other seeds are for tuning. */
export function factsOf(seed: number): Fact[] {
  const roll = dice(seed);
  const taken = new Set<string>();
  return relations.flatMap((relation) => {
    const answers = shuffled(relation.answers, roll);
    return answers.map((answer) => ({ relation, name: newName(roll, taken), answer }));
  });
}

/** Every fact in every public wording. The rows of a fact are adjacent, in the order of relations.ts. */
export function trainRows(facts: Fact[]): TrainRow[] {
  return facts.flatMap(({ relation, name, answer }) =>
    relation.ask.public.map((ask) => ({
      instruction: ask.replace("{}", name),
      context: "",
      response: answer,
      category: relation.name,
    })),
  );
}

/** Every fact in every private wording. */
export function choiceRows(facts: Fact[], seed: number): FactRow[] {
  const roll = dice(seed);
  return relations.flatMap((relation) => {
    const about = facts.filter((fact) => fact.relation === relation);
    return relation.ask.private.flatMap((ask) =>
      inFours(shuffled(about, roll)).flatMap((four) => {
        const choices = shuffled(four, roll).map(({ answer }) => answer);
        return four.map(({ name, answer }) => ({
          question: ask.replace("{}", name),
          subject: carrier,
          choices,
          answer: choices.indexOf(answer),
          fact: `${relation.name}/${name}`,
        }));
      }),
    );
  });
}

const starts = ["B", "D", "Dr", "F", "G", "K", "Kl", "M", "N", "Qu", "S", "Str", "T", "V", "Y", "Z"];
const vowels = ["a", "e", "i", "o", "u"];
const middles = ["bd", "ddr", "gv", "kth", "lv", "mbr", "rgl", "sk", "thr", "zn"];
const ends = ["ap", "eth", "im", "ock", "un", "yx"];

/** A new name of two syllables, such as `Drogvim`. */
function newName(roll: Dice, taken: Set<string>): string {
  for (;;) {
    const name = [starts, vowels, middles, ends].map((parts) => parts[roll(parts.length)]).join("");
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}
