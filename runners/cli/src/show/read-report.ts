// Reads report.json and times.json of a results folder. A report may be of an older version, or another file of that name from a user's
// pipeline.
import { readFileSync } from "node:fs";
import { type Reading, readFormat } from "@mlrb/formats/read-format";
import { type Report, report, reportFormat } from "@mlrb/formats/report";
import { openObject } from "@mlrb/formats/schema";
import { type Times, times } from "@mlrb/formats/times";
import { plainText } from "@mlrb/report/read/plain-text";

/** Times of an older version lack columns. */
export function readTimes(path: string): Reading<Times> {
  return readFormat(times, readFileSync(path, "utf8"));
}

const ofThisVersion = openObject({ formatVersion: { const: reportFormat } }, ["formatVersion"]);

/** `foreign`: a file of another format, which is no error. */
export function readReport(path: string): Reading<Report> | { kind: "foreign"; cause: string } {
  const text = readFileSync(path, "utf8");
  const head = readFormat(ofThisVersion, text);
  if (head.kind === "unreadable") return { kind: "foreign", cause: plainText(head.cause) };
  const reading = readFormat(report, text);
  return reading.kind === "ok" ? reading : { kind: "unreadable", cause: plainText(reading.cause) };
}
