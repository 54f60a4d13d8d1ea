// A CSV file of a report, after RFC 4180. The row's schema names the columns.
import { type ResultRow, type ResultTable, resultRows } from "@mlrb/formats/report/result-tables";
import { csvLine } from "./csv-line.ts";

type Value = string | number | boolean | null;

/** With CRLF. Numbers are in full, null is an empty cell, and no text can become a formula. */
export function csvTable<Name extends ResultTable>(name: Name, rows: ResultRow<Name>[]): string {
  const columns = Object.keys(resultRows[name].properties);
  const lines = rows.map((row) => {
    const cells = row as Record<string, Value | undefined>;
    return csvLine(
      columns.map((column) => {
        const value = cells[column];
        if (value === undefined) throw new Error(`bug: ${name}.csv has no value for ${column}`);
        return value;
      }),
    );
  });
  return [csvLine(columns), ...lines].join("");
}
