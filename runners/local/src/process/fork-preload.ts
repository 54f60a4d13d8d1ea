// Finds the preload file of an environment, NAME.preload.py next to NAME.lock: programs are forked from a process
// that has imported it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Instance } from "@mlrb/core/plan/plan";

/**
 * Absolute path of the preload file. Undefined without one, or where the instance must be a new process: a
 * measurement of memory or speed would include the shared memory, and an untrusted program could read the data of
 * other stages. A script without heavy imports starts as fast without it, and does not wait for the imports.
 */
export function forkPreload(
  { action, stage }: Instance,
  { repository, lock }: { repository: string; lock: string | undefined },
): string | undefined {
  if (lock === undefined || action.run.kind !== "python" || action.hostSensitive || stage.untrusted) return;
  const path = join(repository, lock.replace(/\.lock$/, ".preload.py"));
  if (!path.endsWith(".preload.py") || !existsSync(path)) return;
  // the only import of scripts that write nothing (none.py) is the kit's stage
  const imports = readFileSync(join(repository, action.run.file), "utf8").match(/^.*\bimport\b.*$/gm) ?? [];
  return imports.join("\n") === "from mlrb_kit.stage import read_stage" ? undefined : path;
}
