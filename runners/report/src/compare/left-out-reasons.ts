// Why an agent's values at a task are left out of statements over tasks: a failure without a known baseline has no
// value, and many missing attempts may differ from the measured ones.
import { tooManyMissing } from "@mlrb/core/statistics/intention-to-treat";
import type { Cell } from "@mlrb/formats/report/cell";

/** Empty where the values can be used. */
export function leftOutReasons(cell: Cell): string[] {
  const { agent, meanWithheld, measured, planned } = cell;
  switch (meanWithheld) {
    case "nothing-measured":
      return [`no attempt of ${agent} was measured`];
    case "baseline-unknown":
      return [`${agent} has failed attempts and the trivial baseline is unknown`];
    default:
      return tooManyMissing(cell)
        ? [`${planned - measured} of ${agent}'s ${planned} attempts are missing (at most 20 % may be)`]
        : [];
  }
}

/** The same for tests over attempts and their intervals, which need more than one observation. */
export function untestableReasons(cell: Cell): string[] {
  const { agent, measured, observations } = cell;
  const repeated =
    observations < measured
      ? [
          `${measured} attempts of ${agent} without randomness are ${observations === 1 ? "1 observation" : `${observations} observations`}`,
        ]
      : [];
  return [...leftOutReasons(cell), ...repeated];
}
