import type { Report } from "@mlrb/formats/report";
import { paperFiles } from "../formats/latex.ts";

/** All that a report gives to a paper, as one text. */
export function latex(report: Report): string {
  return Object.values(paperFiles(report)).join("\n");
}
