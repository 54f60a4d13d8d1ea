// The output of the anchors stage for one task and scorer: rows to compare scores with.
import {
  anyText,
  fileFormat,
  listOf,
  number,
  type TypeOf,
  text,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { standardError } from "./score.ts";

const anchorRow = {
  ...wholeObject({
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
