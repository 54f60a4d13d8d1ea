// Removes a folder with any file modes: workspaces hold read-only data, and agents may leave anything.
import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Removes `path` and everything below it, if it exists. Links are removed, not followed. */
export function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    makeWritable(path);
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

function makeWritable(folder: string): void {
  if (!lstatSync(folder).isDirectory()) return;
  chmodSync(folder, 0o700);
  for (const name of readdirSync(folder)) makeWritable(join(folder, name));
}
