// Reads report.json and times.json of a results folder. A report may be of an older version, or another file of that name from a user's
// pipeline.
import { readFileSync } from "node:fs";
import { type Reading, readFormat } from "@mlrb/formats/read-format";
import { type Report, report, reportFormat } from "@mlrb/formats/report";
import { report4 } from "@mlrb/formats/report-4";
import { openObject } from "@mlrb/formats/schema";
import { type Times, times } from "@mlrb/formats/times";
import { plainText } from "@mlrb/report/read/plain-text";
import { upgradedReport } from "@mlrb/report/read/upgrade-report";

/** Times of an older version lack columns. */
export function readTimes(path: string): Reading<Times> {
  return readFormat(times, readFileSync(path, "utf8"));
}

const ofThisVersion = openObject({ formatVersion: { const: reportFormat } }, ["formatVersion"]);
const ofVersion4 = openObject({ formatVersion: { const: 4 } }, ["formatVersion"]);

type ReadReport =
  /** `upgraded`: the file is of an older version. */
  | { kind: "ok"; value: Report; upgraded: boolean }
  | { kind: "unreadable"; cause: string }
  /** A file of another format, which is no error. */
  | { kind: "foreign"; cause: string };

export function readReport(path: string): ReadReport {
  return readReportText(readFileSync(path, "utf8"));
}

export function readReportText(text: string): ReadReport {
  const head = readFormat(ofThisVersion, text);
  const upgraded = head.kind === "unreadable";
  if (upgraded && readFormat(ofVersion4, text).kind === "unreadable")
    return { kind: "foreign", cause: plainText(head.cause) };
  const reading = upgraded ? readFormat(report4, text) : readFormat(report, text);
  if (reading.kind === "unreadable") return { kind: "unreadable", cause: plainText(reading.cause) };
  const { value } = reading;
  return { kind: "ok", value: value.formatVersion === 4 ? upgradedReport(value) : value, upgraded };
}
