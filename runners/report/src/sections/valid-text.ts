// The valid attempts of a cell as tables show them. Their interval is conditional on an attempt being valid, so it
// is never next to the mean over all attempts.

import type { Cell } from "@mlrb/formats/report/cell";
import type { NamedMean } from "../compare/means-by-name.ts";
import type { ShownMetric } from "../units/shown-metric.ts";
import { digitsText, supportedDigits, validError } from "./digits-text.ts";
import { type TableCell, textCell } from "./table.ts";

/** `0.580 [0.521, 0.639] (n 3)`, with the digits that the mean's error supports; without an interval only the mean. */
export function validText(cell: Cell, metric: ShownMetric): string {
  const { validMean, validN, validInterval } = cell;
  if (validMean === null) return "none valid";
  const digits = supportedDigits(metric.digits, validError(cell));
  const ends = validInterval?.map((end) => digitsText(end, digits, validMean)).join(", ");
  return `${digitsText(validMean, digits)}${ends === undefined ? "" : ` [${ends}]`} (n ${validN})`;
}

/** A mean over an agent's valid attempts with how many of its planned attempts are valid. */
export function validMeanCell(
  { agents }: Pick<NamedMean<unknown>, "agents">,
  agent: string,
  shown: (value: number) => string,
): TableCell {
  const found = agents.find((each) => each.agent === agent);
  if (!found) return textCell("not planned", "faint");
  const { mean, attempts, planned } = found;
  return textCell(`${mean === null ? "–" : shown(mean)} (${attempts}/${planned})`);
}
