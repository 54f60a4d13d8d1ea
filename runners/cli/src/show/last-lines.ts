// The last lines of a log, safe to show: output may contain control sequences or one endless line.
import { statSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { redrawnLines } from "@mlrb/core/text/redrawn-lines";
import { readFrom } from "@mlrb/kit/files/read-from";
import { shorten } from "./shorten.ts";

/** Read from the end first; then eight times as much, until there are enough lines. */
const bytesFirst = 16 << 10;
const bytesMax = 8 << 20;
const widthMax = 400;

/** Lines of a stack trace inside Node itself. */
const ofNodeItself = /^\s+at .*\bnode:internal\//;

/** At most `count` lines from the end of a file, each in its last state if it was redrawn; none without a file. */
export function lastLines(path: string, count: number): string[] {
  try {
    const { size } = statSync(path);
    for (let bytes = bytesFirst; ; bytes *= 8) {
      const text = readFrom(path, Math.max(0, size - bytes), bytes)!.toString("utf8");
      const lines = plainLines(size > bytes ? withoutTorn(text) : text);
      // a bar that was redrawn for hours may hide the error before it
      if (lines.length >= count || bytes >= Math.min(size, bytesMax))
        return lines.slice(-count).map((line) => shorten(line, widthMax));
    }
  } catch {
    return [];
  }
}

/** Without the end of the state in which the read part begins, unless there is nothing else. */
function withoutTorn(text: string): string {
  const rest = text.replace(/^[^\r\n]*[\r\n]/, "");
  return rest.trim() === "" ? text : rest;
}

/** The lines that are not blank, without control sequences. */
export function plainLines(text: string): string[] {
  const lines = redrawnLines();
  return (lines.push(stripVTControlCharacters(text)) + lines.end())
    .split("\n")
    .map((line) => line.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, " ").trimEnd())
    .filter((line) => line !== "" && !ofNodeItself.test(line));
}
