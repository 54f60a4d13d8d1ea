// The CSV files of a report, for spreadsheets and data frames. docs/guide.md describes each.
import type { Report } from "@mlrb/formats/report";
import { attemptRows, checkpointRows, scoreRows } from "./attempt-rows.ts";
import { csvTable } from "./csv-table.ts";
import { comparisonRows, summaryRows } from "./summary-rows.ts";

/** Texts by file name. The first three always exist; the others are left out without rows. */
export function csvFiles(report: Report): Record<string, string> {
  const [checkpoints, comparisons] = [checkpointRows(report), comparisonRows(report)];
  return {
    "summary.csv": csvTable("summary", summaryRows(report)),
    "attempts.csv": csvTable("attempts", attemptRows(report)),
    "scores.csv": csvTable("scores", scoreRows(report)),
    ...(checkpoints.length > 0 && { "checkpoints.csv": csvTable("checkpoints", checkpoints) }),
    ...(comparisons.length > 0 && { "comparisons.csv": csvTable("comparisons", comparisons) }),
  };
}
