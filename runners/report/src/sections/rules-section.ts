// What went wrong through a fault of the agents: broken rules and rejected scores, with the evidence.
import type { Report } from "@mlrb/formats/report";
import { attemptItems } from "./report-words.ts";
import type { Section } from "./table.ts";

/** Failed and undecided rules with their evidence, and reasons for rejections; equal findings once. */
export function rulesSection(report: Report): Section {
  const broken = report.attempts.flatMap((attempt) =>
    attempt.verdict.kind === "missing"
      ? []
      : attempt.verdict.rules
          .filter((rule) => rule.answer !== "pass")
          .map((rule) => ({
            attempt,
            text:
              `${rule.rule}: ${rule.answer === "fail" ? "failed" : rule.answer} (${rule.severity}, ${rule.source}): ` +
              `${rule.title} – ${rule.evidence}`,
          })),
  );
  const refused = report.attempts.flatMap((attempt) =>
    Object.entries(attempt.scores).flatMap(([name, score]) =>
      score.kind === "rejected" ? [{ attempt, text: `${name}: rejected: ${score.reason}` }] : [],
    ),
  );
  return {
    heading: "Rules broken or undecided, and scores rejected",
    caption: "",
    tables: [],
    items: attemptItems([...broken, ...refused]),
  };
}
