// verdict.json: whether the submission kept the rules of its task.
import * as t from "../schema.ts";
import { built } from "./built.ts";

const answer = t.about(
  t.oneOf("pass", "fail", "undecided"),
  "undecided: what was checked shows neither that the rule was kept nor that it was broken",
);
export type RuleAnswer = t.TypeOf<typeof answer>;

/** Who made the rule. */
export const ruleSource = t.oneOf("official", "competition", "interpreted");

/** The effect of a broken rule: disqualify, or a note only. */
export const ruleSeverity = t.oneOf("disqualify", "note");

export const ruleVerdict = t.wholeExcept(["notMeasured"], {
  rule: t.text,
  title: t.about(t.anyText, "the rule in words, from task.yaml"),
  answer,
  evidence: t.about(t.anyText, "what was checked and found; no durations, hosts or paths"),
  source: ruleSource,
  severity: ruleSeverity,
  notMeasured: t.about(
    t.flag,
    "true: the rule was broken, and is undecided only because its method was not measured on honest models; absent otherwise",
  ),
});
export type RuleVerdict = t.TypeOf<typeof ruleVerdict>;

/** The note of a submission with settings that the benchmark does not know; its scores are not measured. */
export const knownSettings = "known-settings";

/** The rule that a model must not read what it predicts: of tasks with a scorer that reading it would help. */
export const noLookAhead = "no-look-ahead";

/** The note of a tokenizer that rewrites letters or holds scored texts: of the same tasks. */
export const plainTokenizer = "plain-tokenizer";

export const verdictKind = t.about(
  t.oneOf("pass", "disqualified", "rejected", "undecided"),
  "rejected: not admitted; disqualified: a rule of severity disqualify failed; undecided: none failed and one is undecided; pass: all of them passed",
);
export type VerdictKind = t.TypeOf<typeof verdictKind>;

export const verdictFacts = t.about(
  t.tableOf({ type: ["string", "number"] } as const),
  "facts next to the rules, e.g. parameters and dtypes; empty if rejected",
);

export const isNotScorable = t.about(
  t.flag,
  "true: rejected only because its family of models cannot be scored; absent otherwise",
);

export const verdict = t.fileFormat(
  "mlrb verdict",
  t.wholeExcept(["notScorable", "built"], {
    formatVersion: { const: 1 },
    kind: verdictKind,
    rules: t.listOf(ruleVerdict),
    facts: verdictFacts,
    notScorable: isNotScorable,
    built,
  }),
);
export type Verdict = t.TypeOf<typeof verdict>;

/** The kind of an admitted attempt with these answers. Rules of severity note do not matter. */
export function kindOfRules(
  rules: readonly Pick<RuleVerdict, "answer" | "severity">[],
): Exclude<VerdictKind, "rejected"> {
  const disqualifying = rules.filter(({ severity }) => severity === "disqualify");
  if (disqualifying.some(({ answer: found }) => found === "fail")) return "disqualified";
  return disqualifying.some(({ answer: found }) => found === "undecided") ? "undecided" : "pass";
}
