// Cuts text to the columns that a terminal has for it.
import { displayWidth } from "@mlrb/core/text/display-width";

/** At most `width` columns; a cut text ends with `…`. Graphemes are never split. */
export function clip(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let held = "";
  let columns = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    columns += displayWidth(segment);
    if (columns > width - 1) break;
    held += segment;
  }
  return width < 1 ? "" : `${held}…`;
}
