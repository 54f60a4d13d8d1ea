// Cuts text to the columns that a terminal has for it.
import { displayWidth } from "@mlrb/report/terminal-text";

/** At most `width` columns, wide characters counted as two; what is cut ends with `…`. */
export function clip(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let held = "";
  let columns = 0;
  for (const character of text) {
    columns += displayWidth(character);
    if (columns > width - 1) break;
    held += character;
  }
  return width < 1 ? "" : `${held}…`;
}
