// verdict.json: did the submission keep the rules of its task?
import { anyText, fileFormat, listOf, oneOf, type TypeOf, tableOf, text, wholeObject } from "../schema.ts";

const answer = oneOf("pass", "fail", "cannot-tell");
export type RuleAnswer = TypeOf<typeof answer>;

/** Who made the rule. */
export const ruleSource = oneOf("official", "competition", "interpreted");

/** What a broken rule does: strike, or a note only. */
export const ruleSeverity = oneOf("strike", "note");

export const ruleVerdict = wholeObject({
  rule: text,
  title: { ...anyText, description: "the rule in words, from task.yaml" },
  answer,
  evidence: {
    ...anyText,
    description: "what was looked at and what was found; no durations, hosts or paths",
  },
  source: ruleSource,
  severity: ruleSeverity,
});
export type RuleVerdict = TypeOf<typeof ruleVerdict>;

export const judgement = {
  kind: {
    ...oneOf("pass", "struck", "rejected"),
    description: "rejected: not admitted; struck: a rule of severity strike failed; pass: neither",
  },
  rules: listOf(ruleVerdict),
  facts: {
    ...tableOf({ type: ["string", "number"] } as const),
    description: "what a reader wants to see with the rules, e.g. parameters and dtypes; empty when rejected",
  },
} as const;

export const verdict = fileFormat("mlrb verdict", wholeObject({ formatVersion: { const: 1 }, ...judgement }));
export type Verdict = TypeOf<typeof verdict>;
