// The CSV files of a report, for spreadsheets and data frames. docs/results.md describes each.
import type { Report } from "@mlrb/formats/report";
import { attemptRows, momentRows, scoreRows, secondaryRows } from "./attempt-rows.ts";
import { csvTable } from "./csv-table.ts";
import {
  acrossRows,
  anchorRows,
  comparisonRows,
  publishedRows,
  sensitivityRows,
  summaryRows,
} from "./summary-rows.ts";

/** Texts by file name. The first four always exist; of the others, a file without rows is left out. costs.csv is apart. */
export function csvFiles(report: Report): Record<string, string> {
  const rare = {
    "moments.csv": filled("moments", momentRows(report)),
    "secondary.csv": filled("secondary", secondaryRows(report)),
    "published.csv": filled("published", publishedRows(report)),
    "sensitivity.csv": filled("sensitivity", sensitivityRows(report)),
    "across_tasks.csv": filled("across_tasks", acrossRows(report)),
    "comparisons.csv": filled("comparisons", comparisonRows(report)),
  };
  return {
    "summary.csv": csvTable("summary", summaryRows(report)),
    "attempts.csv": csvTable("attempts", attemptRows(report)),
    "scores.csv": csvTable("scores", scoreRows(report)),
    "anchors.csv": csvTable("anchors", anchorRows(report)),
    ...Object.fromEntries(
      Object.entries(rare).filter((file): file is [string, string] => file[1] !== undefined),
    ),
  };
}

function filled<Name extends Parameters<typeof csvTable>[0]>(
  name: Name,
  rows: Parameters<typeof csvTable<Name>>[1],
): string | undefined {
  return rows.length === 0 ? undefined : csvTable(name, rows);
}
