// The last lines of a log, safe to show: output may contain control sequences or one endless line.
import { statSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { redrawnLines } from "@mlrb/core/text/redrawn-lines";
import { readFrom } from "@mlrb/local/store/read-appended";
import { shorten } from "./shorten.ts";

const bytesMax = 16 << 10;
const widthMax = 400;

/** Lines of a stack trace inside Node itself. */
const ofNodeItself = /^\s+at .*\bnode:internal\//;

/** At most `count` lines from the end of a file, each in its last state if it was redrawn; none without a file. */
export function lastLines(path: string, count: number): string[] {
  let text: string;
  try {
    text = readFrom(path, Math.max(0, statSync(path).size - bytesMax), bytesMax)!.toString("utf8");
  } catch {
    return [];
  }
  const lines = redrawnLines();
  return (lines.push(stripVTControlCharacters(text)) + lines.end())
    .split("\n")
    .map((line) => line.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, " ").trimEnd())
    .filter((line) => line !== "" && !ofNodeItself.test(line))
    .slice(-count)
    .map((line) => shorten(line, widthMax));
}
