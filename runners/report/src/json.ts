// report.json: the report for programs.
import { canonicalJson } from "@mlrb/kit/json-file";
import type { Report } from "./report.ts";

/** Keys in code-unit order, two spaces, ending with a line break. */
export function json(report: Report): string {
  return `${canonicalJson(report, 2)}\n`;
}
