// Reads CSV files of a report back, for tests.
import assert from "node:assert/strict";
import type { Report } from "@mlrb/formats/report";
import { csvFiles } from "../formats/csv-files.ts";

/** All files, one after another. */
export function csvText(report: Report): string {
  return Object.values(csvFiles(report)).join("");
}

/** The rows of one file by column; none if the file does not exist. */
export function csvRows(report: Report, file: string): Record<string, string>[] {
  const text = csvFiles(report)[`${file}.csv`];
  if (text === undefined) return [];
  const [head, ...rows] = parseCsv(text);
  return rows.map((row) => Object.fromEntries(head!.map((column, at) => [column, row[at]!])));
}

/** The fields of a CSV text, by RFC 4180. */
export function parseCsv(text: string): string[][] {
  assert.ok(text.endsWith("\r\n"));
  return text
    .slice(0, -2)
    .split(/\r\n(?=(?:[^"]*"[^"]*")*[^"]*$)/)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g)].map(
        ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare!,
      ),
    );
}
