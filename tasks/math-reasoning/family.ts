// The type of a family of statements. The families are in logic-families.ts and number-families.ts.
import type { Slots } from "./slots.ts";
import { say, type Term } from "./terms.ts";

export type Statement = {
  hypotheses: Term[];
  claim: Term;
  /** A Lean term. A single hypothesis is called h; several are called h1, h2, h3. */
  proof: string;
  /** Words for the places in phrasings, except `{claim}`. */
  words: Record<string, string>;
};

export type Family = {
  /** Also the theorem's name. */
  name: string;
  draw: (slots: Slots) => Statement;
  /** The informal proof, with the same places as the phrasings. It names the letters; otherwise a private proof could
   * equal a public one. */
  reason: string;
  phrasings: Phrasings;
};

/** Phrasings of `dev` never occur in training; phrasings of `test` never occur in public data. */
type Phrasings = {
  train: [string, string, string, string];
  dev: [string];
  test: [string, string];
};

/** `template` as a sentence, with each place `{A}` filled by the words of that name. */
export function phrase(template: string, { words, claim }: Statement): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const word = name === "claim" ? (words.claim ?? say(claim)) : words[name];
    if (word === undefined) throw new Error(`bug: no words for {${name}} of "${template}"`);
    return word;
  });
  // a sentence that begins with a letter's name stays lower-case
  return /^[a-z]\b/.test(filled) ? filled : filled.charAt(0).toUpperCase() + filled.slice(1);
}
