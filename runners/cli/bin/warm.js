// Fills the compile cache: imports the program once, in a process of its own that ends right after.
// The first run then starts as light as every other (stripping types takes 30 MB that stay).
import { readdirSync } from "node:fs";
import { enableCompileCache, flushCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

enableCompileCache({ directory: process.argv[2], portable: true });
process.argv.splice(2, process.argv.length, "--help");
const sources = new URL("../src/", import.meta.url);
for (const name of readdirSync(fileURLToPath(sources))) {
  if (name.endsWith(".ts") && !name.endsWith(".test.ts")) await import(new URL(name, sources).href);
}
for (const late of [
  "@mlrb/local/process/local-executor",
  "@mlrb/report/formats/terminal-table",
  "@mlrb/report/sections/times",
]) {
  await import(late);
}
flushCompileCache();
