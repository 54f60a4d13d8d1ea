// What the programs of an instance's environment may be forked from: NAME.preload.py beside NAME.lock.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Instance } from "@mlrb/core/plan/plan";

/**
 * Absolute path of the preload file; undefined where there is none, or where the instance must be a process
 * of its own from the start: one that measures memory or speed would measure what it shares, and one that is
 * not trusted could look at what others left.
 */
export function forkPreload(
  { action, stage }: Instance,
  { repository, lock }: { repository: string; lock: string | undefined },
): string | undefined {
  if (lock === undefined || action.run.kind !== "python" || action.hostSensitive || stage.untrusted) return;
  const path = join(repository, lock.replace(/\.lock$/, ".preload.py"));
  return path.endsWith(".preload.py") && existsSync(path) ? path : undefined;
}
