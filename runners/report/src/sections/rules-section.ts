// What went wrong through a fault of the agents: broken rules and rejected scores, with the evidence.
import type { RuleAnswer } from "@mlrb/formats/judged/verdict";
import type { Report } from "@mlrb/formats/report";
import { isQuestionRule } from "../judged/decided-marks.ts";
import { decisionsOn, decisionText, otherDecisions } from "../read/decisions.ts";
import { attemptItems } from "./report-words.ts";
import type { Section } from "./table.ts";

/** An answer of the machine, where a person may have decided otherwise. */
function answerWord(answer: RuleAnswer): string {
  return answer === "fail" ? "failed" : answer === "pass" ? "passed" : answer;
}

/** Failed and undecided rules with their evidence, and reasons for rejections; equal findings once. */
export function rulesSection(report: Report): Section {
  const broken = report.attempts.flatMap((attempt) =>
    attempt.verdict.kind === "missing"
      ? []
      : attempt.verdict.rules
          .filter((rule) => rule.answer !== "pass" || decisionsOn(attempt, rule.rule).length > 0)
          .map((rule) => ({
            attempt,
            text: [
              `${rule.rule}: ${answerWord(rule.answer)} (${rule.severity}, ${rule.source}): ` +
                `${rule.title} – ${rule.evidence}`,
              ...decisionsOn(attempt, rule.rule).map((one) => `decided by a person: ${decisionText(one)}`),
            ].join("; "),
          })),
  );
  const other = report.attempts.flatMap((attempt) =>
    otherDecisions(attempt).map((one) => ({
      attempt,
      text: `${one.rule}: ${isQuestionRule(one.rule) ? "a question to judges, which changes no verdict" : "no such rule was judged"}; decided by a person: ${decisionText(one)}`,
    })),
  );
  const refused = report.attempts.flatMap((attempt) =>
    Object.entries(attempt.scores).flatMap(([name, score]) =>
      score.kind === "rejected" ? [{ attempt, text: `${name}: rejected: ${score.reason}` }] : [],
    ),
  );
  return {
    heading: "Rules broken or undecided, decisions of people, and scores rejected",
    caption: "",
    tables: [],
    items: attemptItems([...broken, ...other, ...refused]),
  };
}
