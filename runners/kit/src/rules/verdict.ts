// Judges a submission by its task's rules, except rules over all attempts of the task. Pure except for ranged
// reads of the weights.

import type { TaskRule } from "@mlrb/formats/declared/task";
import { type Admission, notScorable } from "@mlrb/formats/judged/admission";
import {
  kindOfRules,
  knownSettings,
  noLookAhead,
  plainTokenizer,
  type RuleVerdict,
  type Verdict,
} from "@mlrb/formats/judged/verdict";
import { undecidedText } from "../admission/clean-submission.ts";
import { clip } from "../admission/clip.ts";
import { describeWeights } from "./describe-weights.ts";
import { mayDisqualify } from "./rule-evidence.ts";
import { type Finding, open, type RuleContext } from "./rule-method.ts";
import { ruleMethods } from "./rule-methods.ts";

/** The verdict; `rules` have been checked with `ruleProblems`. Facts are shown next to the rules and decide nothing. */
export function verdict(rules: TaskRule[], admission: Admission, context: RuleContext): Verdict {
  const verdicts = rules.flatMap((rule): RuleVerdict[] => {
    const { name, title, source, severity } = rule;
    const finding = found(rule, context);
    return finding ? [{ rule: name, title, source, severity, ...withinEvidence(finding, rule) }] : [];
  });
  const note = { source: "interpreted", severity: "note" } as const;
  if (admission.undecided) {
    // every table names the settings that scorers refuse to judge
    const title = "All settings that may change the model are known to the benchmark";
    const evidence = undecidedText(admission.undecided);
    verdicts.push({ rule: knownSettings, title, answer: "undecided", evidence, ...note });
  }
  if (admission.lookAhead) verdicts.push(lookAhead(admission.lookAhead));
  if (admission.tokenizer) {
    const { answer, detail } = admission.tokenizer; // a note: scorers themselves decide by what they score
    const title = "The tokenizer rewrites no letters and holds no scored text";
    verdicts.push({ rule: plainTokenizer, title, answer, evidence: detail, ...note });
  }
  const facts: Verdict["facts"] = {};
  if (admission.admitted && context.weights) {
    const { parameters, dtypes, tensors, bytes } = describeWeights(context.weights);
    Object.assign(facts, { parameters, dtypes: dtypes.join(", "), tensors, bytes });
  }
  const kind = admission.admitted ? kindOfRules(verdicts) : "rejected";
  const whole: Verdict = { formatVersion: 1, kind, rules: verdicts, facts };
  return isNotScorable(admission) ? { ...whole, notScorable: true } : whole;
}

/** An error on a submission's own content, e.g. a stack that overflows, is no answer. Errors of the system are ours. */
function found({ method, with: given }: TaskRule, context: RuleContext): Finding | undefined {
  try {
    return ruleMethods[method]!.decide?.(context, given ?? {});
  } catch (error) {
    if (!(error instanceof Error) || "errno" in error) throw error;
    return open(`the rule's method fails on it: ${error.name}: ${clip(error.message)}`);
  }
}

/**
 * A broken rule disqualifies only if its method was measured on honest models. Else the answer is undecided: it
 * changes no number, every table shows it, and a person may decide.
 */
function withinEvidence(
  finding: Finding,
  { method, severity }: Pick<TaskRule, "method" | "severity">,
): Finding & Pick<RuleVerdict, "notMeasured"> {
  if (severity === "note" || finding.answer !== "fail" || mayDisqualify(method)) return finding;
  return { ...open(`${finding.evidence}; ${forAPerson}`), notMeasured: true };
}

const forAPerson =
  "this alone does not disqualify, as it was not measured how often honest attempts fail it: a person decides (attempts adjudicate)";

/** Whether its family is the only reason. That entries were left out explains other reasons, and is none by itself. */
function isNotScorable({ admitted, reasons }: Admission): boolean {
  const own = reasons.filter(({ code }) => code !== "left-out");
  return !admitted && own.length > 0 && own.every(({ code }) => code === notScorable);
}

/** Scorers that looking ahead would help reject the submission for the same reason. */
function lookAhead({ verdict, detail, untested = [] }: NonNullable<Admission["lookAhead"]>): RuleVerdict {
  const answer = ({ causal: "pass", "looks-ahead": "fail", undecided: "undecided" } as const)[verdict];
  const rule = { method: noLookAhead, severity: "disqualify" } as const;
  const evidence = [detail, ...untested.map(({ kind, detail: why }) => `not tested on ${kind}: ${why}`)];
  return {
    rule: noLookAhead,
    title: "Predictions use only the text before them",
    source: "interpreted",
    severity: rule.severity,
    ...withinEvidence({ answer, evidence: evidence.join("; ") }, rule),
  };
}
