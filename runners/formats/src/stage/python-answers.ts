// The formats of what the two Python helpers of the code digests print: local_imports.py and syntax_digest.py.
import * as t from "../schema.ts";

/** Absolute paths: files that a script can import, and files that it would import if they existed. */
export const importsAnswer = t.wholeObject({ files: t.listOf(t.anyText), absent: t.listOf(t.anyText) });

/** Path → digest of the syntax tree; null where the file does not parse. */
export const syntaxAnswer = t.tableOf(t.textOrNull);
