// The output of the references stage for one task and scorer: rows to compare scores with.
import * as t from "../schema.ts";
import { standardError } from "./score.ts";

/** What a row is made from. Scores normalised by rows of different kinds have no common scale. */
export const referenceKind = t.about(
  t.oneOf(
    "guess",
    "n-gram",
    "retrieval",
    "answers",
    "untrained",
    "given-model",
    "published-model",
    "trained-model",
  ),
  "guess: no question is read; retrieval: the nearest training item; answers: the right ones; given-model: one that the agents get, unchanged",
);
export type ReferenceKind = t.TypeOf<typeof referenceKind>;

export const parameterCount = t.about({ type: "integer", minimum: 0 }, "of the row's model, as stored");

const referenceRow = {
  ...t.wholeExcept(["kind", "parameters"], {
    kind: referenceKind,
    parameters: parameterCount,
    name: t.about(t.text, "e.g. unigram, bigram, chance"),
    title: t.about(t.anyText, "one sentence for the table's footnotes"),
  }),
  oneOf: [
    t.wholeExcept(["standardError", "extra"], {
      value: t.number,
      standardError,
      extra: t.about(t.tableOf(t.number), "further numbers of the model, of which published ones are known"),
    }),
    t.wholeObject({ rejected: t.about(t.anyText, "why the model could not be scored") }),
  ],
} as const;

export const references = t.wholeFile("mlrb references", 1, { scorer: t.text, rows: t.listOf(referenceRow) });
export type References = t.TypeOf<typeof references>;
