// An interval as tables show it: half its width where the mean is in the middle, both ends where one was cut.

import type { Metric } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import { digitsText } from "./digits-text.ts";
import { meanError, supportedDigits } from "./supported-digits.ts";

export type IntervalText = { kind: "half"; half: string } | { kind: "ends"; ends: string };

const cutCaption = "An interval that would leave the metric's range is cut there and shown as [low, high].";

/** Undefined where the cell has none. */
export function intervalText(
  { mean, interval, intervalCut, errors, validN }: Cell,
  metric: Metric,
): IntervalText | undefined {
  if (!interval) return undefined;
  const digits = supportedDigits(metric.digits, meanError({ interval, errors, validN }));
  const [low, high] = interval;
  return intervalCut?.low || intervalCut?.high
    ? { kind: "ends", ends: `[${digitsText(low, digits)}, ${digitsText(high, digits)}]` }
    : { kind: "half", half: digitsText((high - low) / 2, digits, mean ?? 0) };
}

/** A sentence for the caption of `cells`; empty where no interval was cut. */
export function cutText(cells: Cell[]): string {
  return cells.some(({ intervalCut }) => intervalCut?.low || intervalCut?.high) ? cutCaption : "";
}
