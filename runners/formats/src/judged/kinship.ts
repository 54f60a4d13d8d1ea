// kinship.json: the rules of a task over all of its attempts, to be added to each verdict.
import { readFormat } from "../read-format.ts";
import { anyText, fileFormat, listOf, seed, type TypeOf, wholeObject } from "../schema.ts";
import { formerRule, ruleVerdict, upgradedRule } from "./verdict.ts";

export const kinship = fileFormat(
  "mlrb kinship",
  wholeObject({
    formatVersion: { const: 2 },
    attempts: listOf(wholeObject({ agent: anyText, seed, rules: listOf(ruleVerdict) })),
  }),
);
export type Kinship = TypeOf<typeof kinship>;

const formerKinship = wholeObject({
  formatVersion: { const: 1 },
  attempts: listOf(wholeObject({ agent: anyText, seed, rules: listOf(formerRule) })),
});

/** A kinship.json of version 1 as one of version 2; any other text as it is. */
export function upgradedKinship(file: string): string {
  const former = readFormat(formerKinship, file);
  if (former.kind === "unreadable") return file;
  const attempts = former.value.attempts.map(({ agent, seed: of, rules }) => ({
    agent,
    seed: of,
    rules: rules.map(upgradedRule),
  }));
  const whole: Kinship = { formatVersion: 2, attempts };
  return JSON.stringify(whole);
}
