// Why the scores of a submission are not measured, if its settings are undecided. The scorers' stages fail on
// purpose, and their exit status says nothing.
import { knownSettings, type RuleVerdict } from "@mlrb/formats/judged/verdict";

export function undecidedCause(rules: RuleVerdict[]): string | undefined {
  const open = rules.find(({ rule, answer }) => rule === knownSettings && answer === "undecided");
  return open && `undecided: ${open.evidence}`;
}
