// Families of statements on numbers.
import type { Family } from "./family.ts";
import { numeral, say, type Term } from "./terms.ts";

export const numberFamilies: Family[] = [
  {
    name: "calculate",
    draw(slots) {
      const [first, second] = [slots.one(range(1, 10)), slots.one(range(1, 10))];
      const sum = first + second;
      const third = slots.one(range(1, sum - 1));
      const left: Term = ["plus", numeral(first), numeral(second)];
      const small = first * second <= 20;
      switch (slots.one(small ? ["sum", "sums", "product"] : ["sum", "sums"])) {
        case "sum":
          return calculation(left, numeral(sum));
        case "sums":
          return calculation(left, ["plus", numeral(third), numeral(sum - third)]);
        default:
          return calculation(["times", numeral(first), numeral(second)], numeral(first * second));
      }
    },
    reason: "Both {A} and {B} compute to the same number.",
    phrasings: {
      train: [
        "{A} equals {B}.",
        "Calculate: {A} is the same as {B}.",
        "The number {A} equals {B}.",
        "Show that {A} is {B}.",
      ],
      dev: ["We have that {A} is the same as {B}."],
      test: ["Prove that {A} is the same as {B}.", "The numbers {A} and {B} are equal."],
    },
  },
  {
    name: "transport",
    draw(slots) {
      const [a, b, c] = [slots.natural(), slots.letter("natural"), slots.natural()];
      const turned = slots.one([true, false]);
      return {
        hypotheses: [["Eq", a, b], turned ? ["Eq", c, b] : ["Eq", b, c]],
        claim: ["Eq", a, c],
        proof: turned ? "Eq.trans h1 (Eq.symm h2)" : "Eq.trans h1 h2",
        words: { A: say(a), B: b, C: say(c), D: turned ? say(c) : b, E: turned ? b : say(c) },
      };
    },
    reason: "Since {A} equals {B} and {D} equals {E}, {A} and {C} are the same number.",
    phrasings: {
      train: [
        "If {A} equals {B} and {D} equals {E}, then {A} equals {C}.",
        "Suppose that {A} equals {B}. Suppose also that {D} equals {E}. Then {A} equals {C}.",
        "From {A} equals {B} and, besides, from {D} equals {E} it follows that {A} equals {C}.",
        "Let {A} be {B}. Let {D} be {E}. Show that {A} is {C}.",
      ],
      dev: ["Whenever {A} equals {B} and also {D} equals {E}, we have that {A} equals {C}."],
      test: [
        "Given that {A} equals {B}, and given also that {D} equals {E}, prove that {A} equals {C}.",
        "We know that {A} is {B} and that {D} is {E}. So {A} is {C}.",
      ],
    },
  },
  {
    name: "same_done",
    draw(slots) {
      const [a, b] = [slots.natural(), slots.letter("natural")];
      const operation = slots.one(["succ", "plus", "times"]);
      const third = slots.one([slots.letter("natural"), slots.numeral(2, 9)]);
      const done = (term: Term): Term => (operation === "succ" ? ["succ", term] : [operation, third, term]);
      return {
        hypotheses: [["Eq", a, b]],
        claim: ["Eq", done(a), done(b)],
        proof: operation === "succ" ? "both succ h" : `both (${operation} ${third}) h`,
        words: { A: say(a), B: b, C: say(done(a)), D: say(done(b)) },
      };
    },
    reason: "The same is done to {A} and {B}, which gives {C} and {D}.",
    phrasings: {
      train: [
        "If {A} equals {B}, then {C} equals {D}.",
        "Suppose that {A} equals {B}. Then {C} equals {D}.",
        "From {A} equals {B} it follows that {C} equals {D}.",
        "Let {A} be {B}. Show that {C} is {D}.",
      ],
      dev: ["Whenever {A} equals {B}, we have that {C} equals {D}."],
      test: [
        "Given that {A} equals {B}, prove that {C} equals {D}.",
        "We know that {A} is {B}. So {C} is {D}.",
      ],
    },
  },
  {
    name: "particular",
    draw(slots) {
      const [p, q] = [slots.letter("predicate"), slots.letter("predicate")];
      const a = slots.one([slots.natural(), slots.numeral(0, 20)]);
      return {
        hypotheses: [
          ["∀", ["→", [p, "n"], [q, "n"]]],
          [p, a],
        ],
        claim: [q, a],
        proof: `h1 ${typeof a === "string" ? a : `(${a.join(" ")})`} h2`,
        words: { P: p, Q: q, A: say(a), claim: "" },
      };
    },
    reason: "What holds of every number holds of {A}: it has {P}, so it has {Q}.",
    phrasings: {
      train: [
        "If every number with {P} has {Q}, and {A} has {P}, then {A} has {Q}.",
        "Suppose that every number with {P} has {Q}. Suppose also that {A} has {P}. Then {A} has {Q}.",
        "From {P} follows {Q} for every number. The number {A} has {P}. So {A} has {Q}.",
        "Let every number with {P} have {Q}. Let {A} have {P}. Show that {A} has {Q}.",
      ],
      dev: ["Whenever every number with {P} has {Q} and also {A} has {P}, we have that {A} has {Q}."],
      test: [
        "Given that every number with {P} has {Q}, and given also that {A} has {P}, prove that {A} has {Q}.",
        "We know that for every number {Q} follows from {P}, and that {A} has {P}. So {A} has {Q}.",
      ],
    },
  },
];

function calculation(left: Term, right: Term) {
  return {
    hypotheses: [],
    claim: ["Eq", left, right] as Term,
    proof: "Eq.refl",
    words: { A: say(left), B: say(right) },
  };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
