// The output of the anchors stage for one task and scorer: rows to compare scores with.
import {
  anyText,
  fileFormat,
  listOf,
  number,
  oneOf,
  type TypeOf,
  text,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { standardError } from "./score.ts";

/** What a row is made from. Scores normalised by rows of different kinds have no common scale. */
export const anchorKind = {
  ...oneOf(
    "guess",
    "n-gram",
    "retrieval",
    "answers",
    "untrained",
    "given-model",
    "published-model",
    "trained-model",
  ),
  description:
    "guess: no question is read; retrieval: the nearest training item; answers: the right ones; given-model: one that the agents get, unchanged",
} as const;
export type AnchorKind = TypeOf<typeof anchorKind>;

export const parameterCount = {
  type: "integer",
  minimum: 0,
  description: "of the row's model, as stored",
} as const;

const anchorRow = {
  ...wholeExcept(["kind", "parameters"], {
    kind: anchorKind,
    parameters: parameterCount,
    name: { ...text, description: "e.g. unigram, bigram, chance" },
    title: { ...anyText, description: "one sentence for the table's footnotes" },
  }),
  oneOf: [
    wholeExcept(["standardError"], { value: number, standardError }),
    wholeObject({ rejected: { ...anyText, description: "why the model could not be scored" } }),
  ],
} as const;

export const anchors = fileFormat(
  "mlrb anchors",
  wholeObject({ formatVersion: { const: 1 }, scorer: text, rows: listOf(anchorRow) }),
);
export type Anchors = TypeOf<typeof anchors>;
