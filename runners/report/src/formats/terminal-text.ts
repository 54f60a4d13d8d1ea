// Breaks text into lines for a terminal. wrap-ansi puts the beginning of a word that is too long on the line
// before.
import { displayWidth } from "@mlrb/core/text/display-width";

/** `text` in lines of at most `width` columns, broken at spaces; a longer word after a hyphen or comma, or between graphemes. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (displayWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    line = "";
    for (const { segment } of new Intl.Segmenter().segment(word)) {
      if (line !== "" && displayWidth(line + segment) > width) {
        const start = /^.{3,}[-,](?=[\p{L}\p{N}])/u.exec(line)?.[0] ?? line;
        lines.push(start);
        line = line.slice(start.length);
      }
      line += segment;
    }
  }
  return [...lines, line];
}
