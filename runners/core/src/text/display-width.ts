// How many columns of a terminal a text takes.
import { createRequire } from "node:module";
import type stringWidth from "string-width";

const require = createRequire(import.meta.url);
let measure: typeof stringWidth | undefined;

/** One column each, never joined to a neighbour: all that most reports are made of. */
const single = /^[ -~¡-¬®-˿–—‘’“”…−←-↓≤≥─-╿█░]*$/u;

/**
 * Columns of a text without escape sequences: a grapheme of letters, marks or emoji counts once.
 * string-width is loaded by the first text that needs it: it and its expressions of Unicode take 60 ms or more, and a run with nothing to do 150.
 */
export function displayWidth(text: string): number {
  if (single.test(text)) return text.length;
  measure ??= (require("string-width") as { default: typeof stringWidth }).default;
  return measure(text, { countAnsiEscapeCodes: true });
}
