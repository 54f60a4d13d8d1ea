// The mark of attempts that people extended while they worked. Such an attempt is in no mean and no test: its
// agent had budget that the agents of other attempts did not have.
import { formatDuration } from "@mlrb/core/text/units";
import type { InterventionSums } from "@mlrb/formats/declared/intervention";

type Made = { interventions?: InterventionSums };

/** Follows an attempt with interventions. */
export const interventionMark = "⊕";

/** `extended by 2 h 0 m and 5 dollars`; empty for an attempt without interventions. */
export function interventionText({ interventions }: Made): string {
  if (!interventions) return "";
  const { addedMs, addedDollars } = interventions;
  const added = [
    ...(addedMs > 0 ? [formatDuration(addedMs)] : []),
    ...(addedDollars > 0 ? [`${addedDollars} dollars`] : []),
  ];
  return `extended by ${added.join(" and ")}`;
}

/** `2 attempts are in no mean: people extended them (⊕).` Empty if there is none. */
export function interventionLine(attempts: readonly Made[]): string {
  const { length } = attempts.filter((attempt) => interventionText(attempt) !== "");
  if (length === 0) return "";
  const [are, them] = length === 1 ? ["1 attempt is", "it"] : [`${length} attempts are`, "them"];
  return `${are} in no mean and no test: a person extended ${them} (${interventionMark}).`;
}
