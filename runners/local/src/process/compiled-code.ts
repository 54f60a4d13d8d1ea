// The compiled code of the imports of a script that opens what untrusted code made. Such a script must not write
// compiled code that a later one runs, and without any it spends most of a short run on compiling. So a process
// that opens nothing imports the modules once, and walls show their compiled code read-only.
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { nodeFlags } from "@mlrb/core/ports/node-flags";

/** How long the imports may take, ms. Where they fail, each start compiles for itself. */
const importMs = 60_000;

const importer = fileURLToPath(new URL("compile-imports.ts", import.meta.url));

const imported = new Map<string, Promise<unknown>>();

/** Where the compiled code is, below the folder of what a state folder remembers. */
export function compiledFolder({ memory }: { memory: string }): string {
  return join(memory, "node-opens");
}

type Script = {
  /** Absolute. */
  root: string;
  /** From the root. */
  file: string;
  /** The script, which is compiled and not run, and all that it imports. */
  sources: string[];
  /** The module that is loaded before it, absolute. */
  guard: string;
};

/**
 * Fills `folder`, once in this process, with the compiled code of a script and what it imports. Returns the compile
 * cache for a process of the user `uid` that works in `work`.
 */
export async function compiledImports(
  { root, file, sources, guard }: Script,
  { folder, work, uid }: { folder: string; work: string; uid: number },
): Promise<string> {
  const modules = sources.filter((path) => path !== file && path.endsWith(".ts"));
  const paths = [file, ...modules].map((path) => join(root, path));
  const args = [...nodeFlags, `--import=${pathToFileURL(guard).href}`, importer, ...paths];
  const options = { env: { NODE_COMPILE_CACHE: folder }, timeout: importMs };
  const key = JSON.stringify([folder, args]);
  const compile = () => promisify(execFile)(process.execPath, args, options).catch(() => {});
  if (!imported.has(key)) imported.set(key, compile());
  await imported.get(key);
  mkdirSync(folder, { recursive: true });
  const cache = join(work, "compiled");
  mkdirSync(cache);
  // Node looks for it under the number of its user
  const mine = `-${process.getuid!()}`;
  for (const name of readdirSync(folder).filter((name) => name.endsWith(mine)))
    symlinkSync(join(folder, name), join(cache, `${name.slice(0, -mine.length)}-${uid}`));
  return cache;
}
