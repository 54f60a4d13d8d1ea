// Prints the failed instances of a run.

import type { Plan } from "@mlrb/core/plan/plan";
import { outcomeCause } from "@mlrb/core/ports/outcome";
import type { Result } from "@mlrb/local/run/result";
import { logPath } from "@mlrb/local/stage/log-path";
import { typedCommand } from "../request/typed-command.ts";
import { lastLines } from "../show/last-lines.ts";
import { oneLine } from "../show/print.ts";
import type { Failure } from "./closing.ts";

/** Prints each with its cause and its last output lines, which often name the remedy. */
export function printFailures(plan: Plan, results: (Result | undefined)[], logs: string): void {
  const failed = failuresOf(plan, results, { logs });
  for (const failure of failed.slice(0, shownMax)) process.stderr.write(failureText(failure));
  if (failed.length > shownMax) process.stderr.write(`… and ${failed.length - shownMax} more failed\n`);
}

/** A cause may quote what a provider or a stage said. */
export function failureText({ stage, cause, said, command }: Failure): string {
  const lines = said.map((line) => `        | ${oneLine(line)}\n`);
  return `failed  ${stage}\n        ${oneLine(cause)}\n${lines.join("")}        ${command}\n`;
}

const shownMax = 20;

/** In plan order. `root`: as typed. Output is read for the first failures only. */
export function failuresOf(
  plan: Plan,
  results: (Result | undefined)[],
  { logs, root }: { logs: string; root?: string | undefined },
): Failure[] {
  return plan.instances
    .filter(({ index }) => results[index]?.outcome.kind === "failed")
    .map(({ id, index }, at) => ({
      stage: id,
      cause: outcomeCause(results[index]!.outcome),
      said: at < shownMax ? lastLines(logPath(logs, id), 6) : [],
      command: typedCommand("log", id, { root }),
    }));
}
