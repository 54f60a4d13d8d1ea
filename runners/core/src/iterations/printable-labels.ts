// A label is a judgement on an attempt that no recorded event states, such as that it stopped too early. Labels
// accuse, so one is printed only if it is known how often it is right (docs/measures.md).
import type { AttemptLabel } from "@mlrb/formats/attempt/iterations";
import { exactInterval } from "../statistics/exact-interval.ts";

/** The least share of right uses, at the lower end of its 95 % interval. */
export const labelPrecisionMin = 0.7;

export function printableLabels(labels: readonly AttemptLabel[] | undefined): AttemptLabel[] {
  return (labels ?? []).filter(({ precision }) => {
    if (precision === null || precision.of === 0 || precision.right > precision.of) return false;
    return exactInterval(precision.right, precision.of)[0] >= labelPrecisionMin;
  });
}
