// What failed in a run, for people.
import { outcomeCause } from "@mlrb/core/outcome";
import type { Plan } from "@mlrb/core/plan";
import type { Result } from "@mlrb/local/result";
import { logPath } from "@mlrb/local/run-request";
import { lastLines } from "./last-lines.ts";

/** What failed, why, and the last that it said: the way out often stands there. */
export function sayFailures(plan: Plan, results: (Result | undefined)[], logs: string): void {
  const failed = plan.instances.filter(({ index }) => results[index]?.outcome.kind === "failed");
  for (const { id, index } of failed.slice(0, 20)) {
    const said = lastLines(logPath(logs, id), 6).map((line) => `        | ${line}\n`);
    const cause = outcomeCause(results[index]!.outcome);
    process.stderr.write(
      `failed  ${id}\n        ${cause}\n${said.join("")}        pnpm pipeline log '${id}'\n`,
    );
  }
  if (failed.length > 20) process.stderr.write(`… and ${failed.length - 20} more failed\n`);
}
