// The permanent lines of a run. On a terminal none is wider than it, so that the live lines below stay in place:
// the rest of a long line is indented below. In a pipe each is one whole line.
// Pure: no disk, no clock.
import { styleText } from "node:util";
import { displayWidth } from "@mlrb/core/text/display-width";
import { wrap } from "@mlrb/report/formats/terminal-text";
import { clip } from "../show/clip.ts";
import { oneLine } from "../show/print.ts";
import { shorten } from "../show/shorten.ts";

/** `counter`, e.g. `[3/28]`. `reasons` are cut at the edge of a terminal: `explain` has all of them. */
type PermanentLine = { counter: string; text: string; reasons?: string };

/** With fewer columns left after a name, its reasons are left out. */
const reasonsMin = 9;

/** The whole text is in the closing lines and in `log`. */
const charactersMax = 500;

const indent = "    ";

/** `columns`: undefined in a pipe. */
export function permanentLines(
  { counter, text, reasons = "" }: PermanentLine,
  { columns, color }: { columns: number | undefined; color: boolean },
): string[] {
  const whole = `${counter} ${oneLine(text)}`;
  if (columns === undefined) return [reasons === "" ? whole : `${whole}  (${oneLine(reasons)})`];
  // the last column stays free: a terminal may clear it together with what follows
  const width = Math.max(10, columns - 1);
  const name = /^\[[^\]]*\] \S+ +\S+\]/.exec(whole)?.[0] ?? "";
  const line = displayWidth(name) <= width ? whole : shortName(whole);
  const room = width - displayWidth(`${line}  ()`);
  const cut = reasons === "" || room < reasonsMin ? "" : `  (${clip(oneLine(reasons), room)})`;
  const lines = wrapped(shorten(line + cut, charactersMax), width);
  return color ? [painted(lines[0]!), ...lines.slice(1)] : lines;
}

/** The first stage instance without the names of its axes: `score[baby-lm,1]`. */
export function shortName(text: string): string {
  return text.replace(/(?<=[a-z0-9]\[)[^\]]+/, (axes) => axes.replace(/(^|,)[^=,]+=/g, "$1"));
}

function wrapped(text: string, width: number): string[] {
  const first = wrap(text, width)[0]!;
  const rest = text.slice(first.length).trimStart();
  const below = rest === "" ? [] : wrap(rest, width - indent.length).map((line) => indent + line);
  return [first, ...below].map((line) => line.trimEnd());
}

function painted(line: string): string {
  return line.replace(/^(\[ *\d+\/\d+\] )(done|FAILED)(?= )/, (_, counter: string, word: string) => {
    const style = word === "done" ? "green" : "red";
    return counter + styleText(style, word, { validateStream: false });
  });
}
