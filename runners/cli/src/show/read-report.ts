// Reads report.json and times.json of a results folder. A report may be of another version, or another file of
// that name from a user's pipeline.
import { readFileSync } from "node:fs";
import { type Reading, readFormat } from "@mlrb/formats/read-format";
import { type Report, report, reportFormat } from "@mlrb/formats/report";
import { openObject } from "@mlrb/formats/schema";
import { type Times, times } from "@mlrb/formats/times";
import { plainText } from "@mlrb/report/read/plain-text";

export function readTimes(path: string): Reading<Times> {
  return readFormat(times, readFileSync(path, "utf8"));
}

const ofThisVersion = openObject({ formatVersion: { const: reportFormat } }, ["formatVersion"]);

type ReadReport =
  | { kind: "ok"; value: Report }
  | { kind: "unreadable"; cause: string }
  /** A file of another format, which is no error. */
  | { kind: "foreign"; cause: string };

export function readReport(path: string): ReadReport {
  return readReportText(readFileSync(path, "utf8"));
}

export function readReportText(text: string): ReadReport {
  const head = readFormat(ofThisVersion, text);
  if (head.kind === "unreadable") return { kind: "foreign", cause: plainText(head.cause) };
  const reading = readFormat(report, text);
  return reading.kind === "ok" ? reading : { kind: "unreadable", cause: plainText(reading.cause) };
}
