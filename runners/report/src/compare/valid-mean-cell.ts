// A mean over an agent's valid attempts, as tables show it: with how many of those planned it is of.
import { type TableCell, textCell } from "../sections/table.ts";

export type ValidMean = { agent: string; mean: number | null; attempts: number; planned: number };

/** `found` is undefined for an agent of whom nothing was planned. */
export function validMeanCell(
  found: Omit<ValidMean, "agent"> | undefined,
  shown: (value: number) => string,
): TableCell {
  if (!found) return textCell("not planned", "faint");
  const { mean, attempts, planned } = found;
  return textCell(`${mean === null ? "–" : shown(mean)} (${attempts}/${planned})`);
}
