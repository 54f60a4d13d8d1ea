// report.json: the report for programs.

import type { Report } from "@mlrb/formats/report";
import { canonicalJson } from "@mlrb/kit/json-file";

/** Keys in code-unit order, two spaces, ending with a line break. */
export function json(report: Report): string {
  return `${canonicalJson(report, 2)}\n`;
}
