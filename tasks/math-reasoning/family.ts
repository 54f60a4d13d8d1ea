// What a family of statements is. The families themselves stand in logic-families.ts and number-families.ts.
import type { Slots } from "./slots.ts";
import { say, type Term } from "./terms.ts";

export type Statement = {
  hypotheses: Term[];
  claim: Term;
  /** A term of Lean; hypotheses are called h where there is one, else h1, h2, h3. */
  proof: string;
  /** What stands in the phrasings' places, besides `{claim}`. */
  words: Record<string, string>;
};

export type Family = {
  /** Of the theorem, too. */
  name: string;
  draw: (slots: Slots) => Statement;
  /** The informal proof, with the same places as the phrasings. It names the letters, or a private one could stand in
   * a public row. */
  reason: string;
  phrasings: Phrasings;
};

/** Those of `dev` never come up in training, those of `test` in nothing that agents see. */
type Phrasings = {
  train: [string, string, string, string];
  dev: [string];
  test: [string, string];
};

/** `template` with its places filled, as a sentence: `{A}` by the words of that name. */
export function phrase(template: string, { words, claim }: Statement): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const word = name === "claim" ? (words.claim ?? say(claim)) : words[name];
    if (word === undefined) throw new Error(`bug: no words for {${name}} of "${template}"`);
    return word;
  });
  // a letter that names something keeps its size
  return /^[a-z]\b/.test(filled) ? filled : filled.charAt(0).toUpperCase() + filled.slice(1);
}
