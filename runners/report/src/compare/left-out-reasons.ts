// Why an agent's values at a task are left out of statements over tasks: a failure without a known baseline has no
// value, and many missing attempts may differ from the measured ones.
import type { Cell } from "@mlrb/formats/report/cell";

/** Empty where the values can be used. */
export function leftOutReasons({ agent, meanWithheld, intervalWithheld, measured, planned }: Cell): string[] {
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
