// Two answers about a submission, kept apart so that a changed rule rescores nothing:
// admission (may it be loaded at all; the scorers need this) and the verdict (did it keep the rules).
export type Admission = {
  formatVersion: 1;
  admitted: boolean;
  /** Why not, in the order found; empty when admitted. */
  reasons: AdmissionReason[];
};

export type AdmissionReason = { code: string; detail: string };

export type RuleAnswer = "pass" | "fail" | "cannot-tell";

type RuleSource = "official" | "competition" | "interpreted";

type RuleSeverity = "strike" | "note";

export type RuleVerdict = {
  rule: string;
  /** The rule in words, from task.yaml. */
  title: string;
  answer: RuleAnswer;
  /** What was looked at and what was found; no durations, hosts or paths. */
  evidence: string;
  source: RuleSource;
  severity: RuleSeverity;
};

export type Verdict = {
  formatVersion: 1;
  /** rejected: not admitted. struck: a rule of severity strike failed. pass: neither. */
  kind: "pass" | "struck" | "rejected";
  rules: RuleVerdict[];
  /** Facts that a reader wants beside the rules, e.g. parameters and dtypes; empty when rejected. */
  facts: Record<string, string | number>;
};

/** What of a task's rules only all of its attempts together can tell: more rules for each verdict. */
export type Kinship = {
  formatVersion: 1;
  attempts: { agent: string; seed: string | number; rules: RuleVerdict[] }[];
};
