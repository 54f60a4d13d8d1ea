// Why an agent's values at a task take no part in what is said over tasks: those that are left would no longer
// be all that the agent did (a failure without a floor), or need not be like what is lost.
import type { Cell } from "@mlrb/formats/report/cell";

/** The reasons, none where its values can be used. */
export function unusable({ agent, meanWithheld, intervalWithheld, measured, planned }: Cell): string[] {
  switch (meanWithheld) {
    case "nothing-measured":
      return [`no attempt of ${agent} was measured`];
    case "floor-unknown":
      return [`${agent} has failed attempts and the trivial baseline is unknown`];
    default:
      return intervalWithheld === "too-many-missing"
        ? [`${planned - measured} of ${agent}'s ${planned} attempts are missing (at most 20 % may be)`]
        : [];
  }
}
