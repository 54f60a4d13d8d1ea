// An interval as tables show it: half its width where it is even about the mean, its ends where one was cut.

import type { Metric } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import { digitsText } from "./digits-text.ts";

export type IntervalText = { kind: "half"; half: string } | { kind: "ends"; ends: string };

const cutCaption = "An interval that would leave the metric's range is cut there and shown as [low, high].";

/** Undefined where the cell has none. */
export function intervalText(
  { mean, interval, intervalCut }: Cell,
  { digits }: Metric,
): IntervalText | undefined {
  if (!interval) return undefined;
  const [low, high] = interval;
  return intervalCut?.low || intervalCut?.high
    ? { kind: "ends", ends: `[${digitsText(low, digits)}, ${digitsText(high, digits)}]` }
    : { kind: "half", half: digitsText((high - low) / 2, digits, mean ?? 0) };
}

/** What to say under a table of `cells`; empty where none of their intervals was cut. */
export function cutText(cells: Cell[]): string {
  return cells.some(({ intervalCut }) => intervalCut?.low || intervalCut?.high) ? cutCaption : "";
}
