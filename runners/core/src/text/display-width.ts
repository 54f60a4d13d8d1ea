// The width of a text in terminal columns.
import { createRequire } from "node:module";
import type stringWidth from "string-width";

const require = createRequire(import.meta.url);
let measure: typeof stringWidth | undefined;

/** Characters of one column that never combine with a neighbour. Most reports have no others. */
const single = /^[ -~¡-¬®-˿–—‘’“”…−←-↓≤≥─-╿█░]*$/u;

/**
 * Columns of a text without escape sequences: a grapheme of letters, marks or emoji counts once. string-width is
 * loaded by the first text that needs it: the package and its Unicode expressions take 60 ms or more, and a run
 * with nothing to do takes 150.
 */
export function displayWidth(text: string): number {
  if (single.test(text)) return text.length;
  measure ??= (require("string-width") as { default: typeof stringWidth }).default;
  return measure(text, { countAnsiEscapeCodes: true });
}
