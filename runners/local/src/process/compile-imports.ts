// Loads the script that is its first argument and imports the modules that are the others, in a process with a compile
// cache of its own, so that a later process strips no types and compiles no validators. See compiled-code.ts.
import { chmodSync, readdirSync } from "node:fs";
import { flushCompileCache, getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { followsFormat } from "@mlrb/formats/read-format";

const [script, ...modules] = process.argv.slice(2);
// a script is compiled with what imports it, and runs only after the import before it, which fails
const urls = ["data:text/javascript,throw 0", pathToFileURL(script!).href];
const both = urls.map((url) => `import ${JSON.stringify(url)};`).join("");
await import(`data:text/javascript,${encodeURIComponent(both)}`).catch(() => {});
for (const file of modules) {
  const exported: object = await import(file).catch(() => ({}));
  for (const value of Object.values(exported)) {
    try {
      if (isSchema(value)) followsFormat(value);
    } catch {
      // no schema
    }
  }
}
flushCompileCache();
// Node makes them readable by their owner alone
const folder = getCompileCacheDir();
if (folder !== undefined) for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);

function isSchema(value: unknown): value is object {
  return ["properties", "oneOf", "anyOf"].some((key) => Object.hasOwn(Object(value), key));
}
