// Questions of four choices, as rows of cais/mmlu.

type ChoiceRow = {
  question: string;
  subject: string;
  choices: string[];
  answer: number;
};

/** A row that names the fact it asks after; questions about one fact are not independent. */
export type FactRow = ChoiceRow & { fact: string };

/** `list` in groups of four. `stride` is the distance in `list` of the members of a group. */
export function inFours<T>(list: readonly T[], stride = 1): T[][] {
  const order = list.map((_, at) => list[(at * stride) % list.length] as T);
  if (list.length % 4 !== 0 || new Set(order).size !== list.length)
    throw new Error(`bug: ${list.length} facts cannot be put in fours, ${stride} apart`);
  return Array.from({ length: list.length / 4 }, (_, at) => order.slice(at * 4, at * 4 + 4));
}
