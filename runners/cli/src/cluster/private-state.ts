// Whether other users of a cluster can read the state folder on its shared disk.
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Check, note } from "../gates/check.ts";

/** A check only if they can: every folder on the way lets them through. `root` holds `.mlrb`, which may not exist yet. */
export function privateStateChecks(root: string, umask = process.umask()): Check[] {
  const state = join(root, ".mlrb");
  const mode = modeOf(state) ?? 0o777 & ~umask;
  const above: number[] = [];
  for (let path = root; above.length === 0 || path !== dirname(path); path = dirname(path))
    above.push(modeOf(path) ?? 0);
  if ([mode, ...above].some((one) => (one & 0o001) === 0)) return [];
  const found = `can read ${state}, with private evaluation data and seeds`;
  return [note("other users", found, `chmod 700 ${root}; set umask 077 before you run`)];
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode;
}
