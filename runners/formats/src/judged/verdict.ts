// verdict.json: whether the submission kept the rules of its task.
import { anyText, fileFormat, listOf, oneOf, type TypeOf, tableOf, text, wholeObject } from "../schema.ts";

const answer = oneOf("pass", "fail", "cannot-tell");
export type RuleAnswer = TypeOf<typeof answer>;

/** Who made the rule. */
export const ruleSource = oneOf("official", "competition", "interpreted");

/** The effect of a broken rule: strike (disqualified), or a note only. */
export const ruleSeverity = oneOf("strike", "note");

export const ruleVerdict = wholeObject({
  rule: text,
  title: { ...anyText, description: "the rule in words, from task.yaml" },
  answer,
  evidence: {
    ...anyText,
    description: "what was checked and found; no durations, hosts or paths",
  },
  source: ruleSource,
  severity: ruleSeverity,
});
export type RuleVerdict = TypeOf<typeof ruleVerdict>;

/** The note of a submission with settings that the benchmark does not know; its scores are not measured. */
export const knownSettings = "known-settings";

/** The rule that a model must not read what it predicts: of tasks with a scorer that reading it would help. */
export const noLookAhead = "no-look-ahead";

export const judgement = {
  kind: {
    ...oneOf("pass", "struck", "rejected"),
    description:
      "rejected: not admitted; struck (disqualified): a rule of severity strike failed; pass: neither",
  },
  rules: listOf(ruleVerdict),
  facts: {
    ...tableOf({ type: ["string", "number"] } as const),
    description: "facts next to the rules, e.g. parameters and dtypes; empty if rejected",
  },
} as const;

export const verdict = fileFormat("mlrb verdict", wholeObject({ formatVersion: { const: 1 }, ...judgement }));
export type Verdict = TypeOf<typeof verdict>;
