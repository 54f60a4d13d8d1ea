// Reads report.json of a results folder. An older version may have written it, or a pipeline of one's own that calls
// another file so.
import { readFileSync } from "node:fs";
import { type Reading, readFormat } from "@mlrb/formats/read-format";
import { type Report, report, reportFormat } from "@mlrb/formats/report";
import { openObject } from "@mlrb/formats/schema";
import { plainText } from "@mlrb/report/read/plain-text";

const ofThisVersion = openObject({ formatVersion: { const: reportFormat } }, ["formatVersion"]);

/** `foreign`: a file of another format, which is nobody's mistake. */
export function readReport(path: string): Reading<Report> | { kind: "foreign"; cause: string } {
  const text = readFileSync(path, "utf8");
  const head = readFormat(ofThisVersion, text);
  if (head.kind === "unreadable") return { kind: "foreign", cause: plainText(head.cause) };
  const reading = readFormat(report, text);
  return reading.kind === "ok" ? reading : { kind: "unreadable", cause: plainText(reading.cause) };
}
