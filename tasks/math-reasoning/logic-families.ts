// Families of statements on propositions.
import type { Family } from "./family.ts";
import { say, type Term } from "./terms.ts";

export const logicFamilies: Family[] = [
  {
    name: "and_swap",
    draw(slots) {
      const [a, b] = [slots.proposition(), slots.proposition()];
      return {
        hypotheses: [["And", a, b]],
        claim: ["And", b, a],
        proof: "And.intro (And.right h) (And.left h)",
        words: { A: say(a), B: say(b) },
      };
    },
    reason: "Take {A} and {B} apart and put them together the other way round.",
    phrasings: {
      train: [
        "A conjunction may be turned round: if {A} and {B} hold together, then {B} and {A} hold together.",
        "Suppose that {A} and {B} hold together. Then {B} and {A} hold together.",
        "From {A} together with {B} it follows that {B} together with {A}.",
        "Let {A} hold together with {B}. Show {B} together with {A}.",
      ],
      dev: ["Whenever {A} and {B} hold together, so do {B} and {A}."],
      test: [
        "Given {A} along with {B}, prove {B} along with {A}.",
        "The order of a conjunction is free: {A} together with {B} gives {B} together with {A}.",
      ],
    },
  },
  {
    name: "and_pick",
    draw(slots) {
      const parts = [slots.proposition(), slots.proposition(), slots.letter("proposition")] as const;
      const [a, b, c] = parts;
      const at = slots.one([0, 1, 2]);
      const proofs = ["And.left h", "And.left (And.right h)", "And.right (And.right h)"];
      return {
        hypotheses: [["And", a, ["And", b, c]]],
        claim: parts[at] as Term,
        proof: proofs[at] as string,
        words: { A: say(a), B: say(b), C: c },
      };
    },
    reason: "The claim, {claim}, is one of {A}, {B} and {C}.",
    phrasings: {
      train: [
        "If all of {A}, {B} and {C} hold, then {claim}.",
        "Suppose that {A}, {B} and {C} all hold. Then {claim}.",
        "From the three of {A}, {B} and {C} it follows that {claim}.",
        "Let {A}, {B} and {C} all hold. Show {claim}.",
      ],
      dev: ["Whenever all of {A}, {B} and {C} hold, we have {claim}."],
      test: [
        "Given the three of {A}, {B} and {C}, prove {claim}.",
        "All of {A}, {B} and {C} hold, so {claim}.",
      ],
    },
  },
  {
    name: "and_build",
    draw(slots) {
      const [a, b] = [slots.proposition(), slots.proposition()];
      return {
        hypotheses: [a, b],
        claim: ["And", a, b],
        proof: "And.intro h1 h2",
        words: { A: say(a), B: say(b) },
      };
    },
    reason: "Put {A} and {B} together.",
    phrasings: {
      train: [
        "If {A} is true and, besides, {B} is true, then {A} and {B} hold together.",
        "Suppose that {A}. Suppose also that {B}. Then {A} and {B} hold together.",
        "From {A} and, besides, from {B} it follows that {A} together with {B}.",
        "Let {A} hold. Let {B} hold. Show {A} together with {B}.",
      ],
      dev: ["Whenever {A} is true and also {B} is true, {A} and {B} hold together."],
      test: [
        "Given {A}, and given also {B}, prove {A} together with {B}.",
        "We know {A}. Besides, we know {B}. So {A} and {B} hold together.",
      ],
    },
  },
  {
    name: "or_weaken",
    draw(slots) {
      const [a, b] = [slots.proposition(), slots.letter("proposition")];
      const left = slots.one([true, false]);
      return {
        hypotheses: [a],
        claim: left ? ["Or", a, b] : ["Or", b, a],
        proof: left ? "Or.inl h" : "Or.inr h",
        words: { A: say(a) },
      };
    },
    reason: "Since {A}, one side of the claim holds: {claim}.",
    phrasings: {
      train: [
        "If {A} is true, then {claim}.",
        "Suppose that {A}. Then {claim}.",
        "From {A} it follows that {claim}.",
        "Let {A} hold. Show {claim}.",
      ],
      dev: ["Whenever {A} is true, we have {claim}."],
      test: ["Given {A}, prove {claim}.", "We know {A}, so {claim}."],
    },
  },
  {
    name: "or_swap",
    draw(slots) {
      const [a, b] = [slots.proposition(), slots.proposition()];
      return {
        hypotheses: [["Or", a, b]],
        claim: ["Or", b, a],
        proof: "Or.elim h (fun x => Or.inr x) (fun y => Or.inl y)",
        words: { A: say(a), B: say(b) },
      };
    },
    reason: "In the case of {A} as in that of {B}, the other side of the claim holds.",
    phrasings: {
      train: [
        "A disjunction may be turned round: if {A} or else {B}, then {B} or else {A}.",
        "Suppose that {A} or else {B}. Then {B} or else {A}.",
        "From {A} or else {B} it follows that {B} or else {A}.",
        "Let {A} hold or else {B}. Show {B} or else {A}.",
      ],
      dev: ["Whenever {A} or else {B}, we have {B} or else {A}."],
      test: [
        "Given {A} or else {B}, prove {B} or else {A}.",
        "The order of a disjunction is free: {A} or else {B} gives {B} or else {A}.",
      ],
    },
  },
  {
    name: "chain",
    draw(slots) {
      const [a, b, c] = [slots.proposition(), slots.letter("proposition"), slots.letter("proposition")];
      return {
        hypotheses: [
          ["→", a, b],
          ["→", b, c],
        ],
        claim: ["→", a, c],
        proof: "fun x => h2 (h1 x)",
        words: { A: say(a), B: b, C: c },
      };
    },
    reason: "Go from {A} to {B}, and from there to {C}.",
    phrasings: {
      train: [
        "If {A} implies {B} and {B} implies {C}, then {A} implies {C}.",
        "Suppose that {A} implies {B}. Suppose also that {B} implies {C}. Then {A} implies {C}.",
        "From {A} follows {B}, and from {B} follows {C}. So from {A} follows {C}.",
        "Let {A} imply {B}. Let {B} imply {C}. Show that {A} implies {C}.",
      ],
      dev: ["Whenever {A} implies {B} and also {B} implies {C}, we have that {A} implies {C}."],
      test: [
        "Given that {A} implies {B}, and given also that {B} implies {C}, prove that {A} implies {C}.",
        "We know that {B} follows from {A} and that {C} follows from {B}. So {C} follows from {A}.",
      ],
    },
  },
  {
    name: "contrapose",
    draw(slots) {
      const [a, b] = [slots.proposition(), slots.letter("proposition")];
      return {
        hypotheses: [["→", a, b]],
        claim: ["→", ["Not", b], ["Not", a]],
        proof: "fun g x => g (h x)",
        words: { A: say(a), B: b },
      };
    },
    reason: "Were {A} true, {B} would be true, too.",
    phrasings: {
      train: [
        "If {A} implies {B}, then not {B} implies not {A}.",
        "Suppose that {A} implies {B}. Then not {B} implies not {A}.",
        "From {A} follows {B}. So from not {B} follows not {A}.",
        "Let {A} imply {B}. Show that not {B} implies not {A}.",
      ],
      dev: ["Whenever {A} implies {B}, we have that not {B} implies not {A}."],
      test: [
        "Given that {A} implies {B}, prove that not {B} implies not {A}.",
        "We know that {B} follows from {A}. So not {A} follows from not {B}.",
      ],
    },
  },
  {
    name: "curry",
    draw(slots) {
      const [a, b, c] = [slots.proposition(), slots.letter("proposition"), slots.letter("proposition")];
      return {
        hypotheses: [["→", ["And", a, b], c]],
        claim: ["→", a, ["→", b, c]],
        proof: "fun x y => h (And.intro x y)",
        words: { A: say(a), B: b, C: c },
      };
    },
    reason: "Put {A} and {B} together; that gives {C}.",
    phrasings: {
      train: [
        "If {A} together with {B} implies {C}, then {A} implies that {B} implies {C}.",
        "Suppose that {A} together with {B} implies {C}. Then {A} implies that {B} implies {C}.",
        "From {A} together with {B} follows {C}. So from {A} follows that {B} implies {C}.",
        "Let {A} together with {B} imply {C}. Show that {A} implies that {B} implies {C}.",
      ],
      dev: ["Whenever {A} together with {B} implies {C}, we have that {A} implies that {B} implies {C}."],
      test: [
        "Given that {A} together with {B} implies {C}, prove that {A} implies that {B} implies {C}.",
        "We know that {C} follows from {A} together with {B}. So {A} implies that {B} implies {C}.",
      ],
    },
  },
  {
    name: "explode",
    draw(slots) {
      const [a, b] = [slots.proposition(), slots.proposition()];
      return {
        hypotheses: [a, ["Not", a]],
        claim: b,
        proof: "False.elim (h2 h1)",
        words: { A: say(a) },
      };
    },
    reason: "The assumptions contradict each other: {A}, and not {A}. So anything follows, {claim} as well.",
    phrasings: {
      train: [
        "If {A} is true and, besides, not {A} is true, then {claim}.",
        "Suppose that {A}. Suppose also that not {A}. Then {claim}.",
        "From {A} and, besides, from not {A} it follows that {claim}.",
        "Let {A} hold. Let not {A} hold. Show {claim}.",
      ],
      dev: ["Whenever {A} is true and also not {A} is true, we have {claim}."],
      test: [
        "Given {A}, and given also not {A}, prove {claim}.",
        "We know {A}. Besides, we know not {A}. So {claim}.",
      ],
    },
  },
];
