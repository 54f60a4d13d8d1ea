// Statements as small trees, and their text in Lean and in English.
import { numerals } from "./house.ts";

/** A letter, a number's name, or a head with its arguments: `["And", "p", ["Not", "q"]]`. */
export type Term = string | Compound;
type Compound = readonly [head: string, ...parts: Term[]];

/** The term in Lean, without outer brackets. `∀` binds n, which is not a letter of statements. */
export function lean(term: Term): string {
  if (typeof term === "string") return term;
  const [head, ...parts] = term;
  const [first = "", second = ""] = parts;
  if (head === "∀") return `∀ n, ${lean(first)}`;
  if (head === "→") return `${isArrow(first) ? inBrackets(first) : lean(first)} → ${lean(second)}`;
  return [head, ...parts.map(inBrackets)].join(" ");
}

function inBrackets(term: Term): string {
  return typeof term === "string" ? term : `(${lean(term)})`;
}

function isArrow(term: Term): boolean {
  return typeof term !== "string" && term[0] === "→";
}

/** The term in English; unambiguous for slot contents, which are a head over letters or numbers. */
export function say(term: Term): string {
  if (typeof term === "string") return term;
  const [head, first = "", second = ""] = term;
  const words = english[head];
  if (!words) throw new Error(`bug: no English for ${head}`);
  return words(say(first), say(second));
}

const english: Record<string, (first: string, second: string) => string> = {
  Not: (first) => `not ${first}`,
  And: (first, second) => `both ${first} and ${second}`,
  Or: (first, second) => `either ${first} or ${second}`,
  "→": (first, second) => `${first} implies ${second}`,
  plus: (first, second) => `${first} plus ${second}`,
  times: (first, second) => `${first} times ${second}`,
  succ: (first) => `the successor of ${first}`,
  Eq: (first, second) => `${first} equals ${second}`,
};

/** Letters of each kind. Excluded: n is bound by `∀`, a and i are English words, proofs use h, f and g. */
export const propositions = [..."pqrstuvw"];
export const naturals = [..."bcdkmxyz"];
export const predicates = [..."PQRS"];

/** The binders of a theorem over `terms`: predicates, numbers, propositions, each in order of appearance. */
export function binders(terms: Term[]): string {
  const met = [...new Set(terms.flatMap(leaves))];
  const group = (letters: string[], type: string) => {
    const bound = met.filter((leaf) => letters.includes(leaf));
    return bound.length > 0 ? [`(${bound.join(" ")} : ${type})`] : [];
  };
  return [...group(predicates, "Nat → Prop"), ...group(naturals, "Nat"), ...group(propositions, "Prop")].join(
    " ",
  );
}

function leaves(term: Term): string[] {
  return typeof term === "string" ? [term] : term.flatMap(leaves);
}

/** The name of a number up to twenty. */
export function numeral(value: number): string {
  const name = numerals[value];
  if (name === undefined) throw new Error(`bug: no name for ${value}`);
  return name;
}
