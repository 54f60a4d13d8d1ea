// kinship.json: the rules of a task over all of its attempts, to be added to each verdict.
import { anyText, fileFormat, listOf, seed, type TypeOf, wholeObject } from "../schema.ts";
import { ruleVerdict } from "./verdict.ts";

export const kinship = fileFormat(
  "mlrb kinship",
  wholeObject({
    formatVersion: { const: 2 },
    attempts: listOf(wholeObject({ agent: anyText, seed, rules: listOf(ruleVerdict) })),
  }),
);
export type Kinship = TypeOf<typeof kinship>;
