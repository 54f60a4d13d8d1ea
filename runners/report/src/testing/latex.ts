import type { Report } from "@mlrb/formats/report";
import { headlineFile, tableFiles } from "../formats/latex.ts";

/** All that a report gives to a paper, as one text. */
export function latex(report: Report): string {
  return [headlineFile(report), ...Object.values(tableFiles(report))].join("\n");
}
