// The eight families of instruction pairs, as data: an instruction in two phrasings, its input and its output. A
// family lists all fillings of its words; instructions.ts selects pairs.

type Exchange = { input: string; output: string };
export type Family = { name: string; phrasings: [string, string]; all: () => Exchange[] };

const things = [
  "apple",
  "basket",
  "candle",
  "door",
  "engine",
  "flag",
  "garden",
  "hammer",
  "island",
  "jacket",
];
const more = [
  "kettle",
  "ladder",
  "mirror",
  "needle",
  "orange",
  "pencil",
  "ribbon",
  "saddle",
  "table",
  "wagon",
];
const names = ["Anna", "Ben", "Clara", "David", "Ellen", "Frank", "Grace", "Henry", "Julia", "Martin"];
const places = ["church", "field", "harbor", "house", "market", "river", "school", "station"];
const colors = ["blue", "brown", "green", "red", "white", "yellow"];
const opposites = [
  ["big", "small"],
  ["old", "new"],
  ["heavy", "light"],
  ["clean", "dirty"],
  ["long", "short"],
  ["cheap", "expensive"],
] as const;
const verbs = [
  ["walks", "walked"],
  ["returns", "returned"],
  ["runs", "ran"],
  ["comes", "came"],
  ["goes", "went"],
  ["drives", "drove"],
] as const;
const numbers = Array.from({ length: 60 }, (_, at) => at + 11);

/** Every pair of the two lists' members. */
function each<A, B, R>(first: readonly A[], second: readonly B[], make: (a: A, b: B) => R): R[] {
  return first.flatMap((a) => second.map((b) => make(a, b)));
}

const triples = each(things, each(more, colors, pair), (a, [b, c]) => [a, b, c] as const);
const people = each(names, names, pair).filter(([a, b]) => a !== b);

function pair<A, B>(a: A, b: B): [A, B] {
  return [a, b];
}

export const families: Family[] = [
  {
    name: "alphabet",
    phrasings: ["Put the words in alphabetical order.", "Sort the words from a to z."],
    all: () =>
      triples.map(([a, b, c]) => ({ input: `${c}, ${b}, ${a}`, output: [a, b, c].sort().join(", ") })),
  },
  {
    name: "reverse",
    phrasings: ["Write the words in reverse order.", "Turn the order of the words around."],
    all: () => triples.map(([a, b, c]) => ({ input: `${b}, ${a}, ${c}`, output: `${c}, ${a}, ${b}` })),
  },
  {
    name: "sum",
    phrasings: ["Add the two numbers.", "What is the sum?"],
    all: () =>
      each(numbers, numbers, (a, b) => ({
        input: `${a} and ${b}`,
        output: `${a} plus ${b} is ${a + b}.`,
      })),
  },
  {
    name: "giver",
    phrasings: ["Who gave something away?", "Name the person who gave."],
    all: () =>
      each(people, things, ([a, b], thing) => ({
        input: `${a} gave the ${thing} to ${b}.`,
        output: `${a} gave the ${thing}.`,
      })),
  },
  {
    name: "question",
    phrasings: ["Turn the sentence into a question.", "Ask whether this is so."],
    all: () =>
      each(each(colors, [...things, ...more], pair), places, ([color, thing], place) => ({
        input: `The ${color} ${thing} is in the ${place}.`,
        output: `Is the ${color} ${thing} in the ${place}?`,
      })),
  },
  {
    name: "opposite",
    phrasings: ["Say the opposite.", "Write the sentence with the opposite meaning."],
    all: () =>
      each(each([...things, ...more], colors, pair), opposites, ([thing, color], [is, isNot]) => ({
        input: `The ${color} ${thing} is ${is}.`,
        output: `The ${color} ${thing} is ${isNot}.`,
      })),
  },
  {
    name: "past",
    phrasings: ["Put the sentence in the past.", "Say that it happened yesterday."],
    all: () =>
      each(each(people, verbs, pair), places, ([[a, b], [now, then]], place) => ({
        input: `${a} ${now} to the ${place} with ${b}.`,
        output: `${a} ${then} to the ${place} with ${b}.`,
      })),
  },
  {
    name: "color",
    phrasings: ["What color is it?", "Name the color of the thing."],
    all: () =>
      each(each(names, colors, pair), [...things, ...more], ([name, color], thing) => ({
        input: `${name} saw a ${color} ${thing}.`,
        output: `The ${thing} is ${color}.`,
      })),
  },
];
