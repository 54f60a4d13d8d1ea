// The formats of what the two Python helpers of the code digests print: local_imports.py and syntax_digest.py.
import { anyText, listOf, tableOf, textOrNull, wholeObject } from "../schema.ts";

/** Absolute paths: files that a script can import, and files that it would import if they existed. */
export const importsAnswer = wholeObject({ files: listOf(anyText), absent: listOf(anyText) });

/** Path → digest of the syntax tree; null where the file does not parse. */
export const syntaxAnswer = tableOf(textOrNull);
