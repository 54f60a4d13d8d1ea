// kinship.json: the rules of a task over all of its attempts, to be added to each verdict.
import * as t from "../schema.ts";
import { ruleVerdict } from "./verdict.ts";

export const kinship = t.wholeFile("mlrb kinship", 1, {
  attempts: t.listOf(t.wholeObject({ agent: t.anyText, seed: t.seed, rules: t.listOf(ruleVerdict) })),
});
export type Kinship = t.TypeOf<typeof kinship>;
