// Dose and response for a paper: the page's figures under the names that readers know, two in a row.
import type { Report } from "@mlrb/formats/report";
import { doseGroups } from "../compare/ladder.ts";
import { doseSvg } from "../page/charts/dose-response.ts";
import { displayNames } from "./display-names.ts";
import { drawnWidth, figurePdf, inPairs } from "./pdf-figure.ts";

export const doseCaption =
  "Score by difficulty: means over attempts that were told of the level, with Student-t intervals (95 %). Dashed: attempts " +
  "at the whole task as they stood at that share of their time, which did not know of a shorter one. Grey: the trivial " +
  "baseline of each level, as which failed attempts count. It is 0 in normalised scores, where 1 is the reference model; " +
  "scores are in the metric's unit where a level has no reference.";

/** figures/dose.pdf; undefined without levels. */
export async function doseFigure(report: Report): Promise<Buffer | undefined> {
  const names = displayNames(report);
  const drawn = doseGroups(report).map((curves) =>
    doseSvg(report, curves, { width: drawnWidth / 2, name: names.agent }),
  );
  return drawn.length === 0 ? undefined : figurePdf(report, inPairs(drawn));
}
