// Imports the modules whose paths are its arguments, in a process with a compile cache of its own, so that a later
// process compiles neither them nor the validators of their formats. See compiled-code.ts.
import { chmodSync, readdirSync } from "node:fs";
import { flushCompileCache, getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { followsFormat } from "@mlrb/formats/read-format";

for (const file of process.argv.slice(2)) {
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
