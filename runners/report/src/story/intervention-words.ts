// The mark of attempts that people extended or wrote to while they worked. Such an attempt is in no mean and no test: its
// agent had budget or words that the agents of other attempts did not have.
import { formatDuration } from "@mlrb/core/text/units";
import type { InterventionSums } from "@mlrb/formats/declared/intervention";

type Made = { interventions?: InterventionSums };

/** Follows an attempt with interventions. */
export const interventionMark = "⊕";

/** `extended by 2 h 0 m and 5 dollars, 1 note`; empty for an attempt without interventions. */
export function interventionText({ interventions }: Made): string {
  if (!interventions) return "";
  const { extensions, addedMs, addedDollars, notes } = interventions;
  const added = [
    ...(addedMs > 0 ? [formatDuration(addedMs)] : []),
    ...(addedDollars > 0 ? [`${addedDollars} dollars`] : []),
  ].join(" and ");
  return [
    ...(extensions > 0 ? [`extended by ${added}`] : []),
    ...(notes > 0 ? [notes === 1 ? "1 note" : `${notes} notes`] : []),
  ].join(", ");
}

/** `2 attempts are in no mean: people extended or annotated them (⊕).` Empty if there is none. */
export function interventionLine(attempts: readonly Made[]): string {
  const { length } = attempts.filter((attempt) => interventionText(attempt) !== "");
  if (length === 0) return "";
  const [are, them] = length === 1 ? ["1 attempt is", "it"] : [`${length} attempts are`, "them"];
  return `${are} in no mean and no test: a person extended ${them} or sent a note to the agent (${interventionMark}).`;
}
