// The last lines of a log, safe to show: output may contain control sequences or one endless line.
import { statSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { readFrom } from "@mlrb/local/store/read-appended";
import { shorten } from "./shorten.ts";

const bytesMax = 16 << 10;
const widthMax = 400;

/** Lines of a stack trace inside Node itself. */
const ofNodeItself = /^\s+at .*\bnode:internal\//;

/** At most `count` lines from the end of a file; none without a file. */
export function lastLines(path: string, count: number): string[] {
  let text: string;
  try {
    text = readFrom(path, Math.max(0, statSync(path).size - bytesMax), bytesMax)!.toString("utf8");
  } catch {
    return [];
  }
  return stripVTControlCharacters(text)
    .split(/\r?\n|\r/)
    .map((line) => line.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, " ").trimEnd())
    .filter((line) => line !== "" && !ofNodeItself.test(line))
    .slice(-count)
    .map((line) => shorten(line, widthMax));
}
