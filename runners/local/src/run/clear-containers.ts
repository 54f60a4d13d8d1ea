// Ends what dead runs left running elsewhere than as processes of this machine, and clears up after it.
import type { Executor } from "@mlrb/core/ports/executor";
import { clearDeadWork, leftContainers } from "../stage/work-folders.ts";

/** What the run went on with stays; where an executor cannot tell now, the next run looks again. */
export async function clearContainers(
  work: string,
  executors: string[],
  executorOf: (name: string) => Promise<Executor>,
): Promise<void> {
  if (!leftContainers(work)) return;
  for (const name of executors) {
    if (name === "local") continue;
    if (!(await (await executorOf(name)).clearLeft?.())) return;
  }
  await clearDeadWork(work, { containers: true });
}
