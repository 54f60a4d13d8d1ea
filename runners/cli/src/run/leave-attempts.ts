// After an interrupted run: prints how to stop the attempts that keep running and what the next run does with
// them, and stops them on a second Ctrl-C.
import { join } from "node:path";
import { unreachable } from "@mlrb/core/ports/outcome";
import { sealTimes } from "@mlrb/kit/processes/seal-times";
import { attemptFate, attemptFateInTime, type Fate } from "@mlrb/local/attempts/attempt-fate";
import { attemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { causeWords, keptWords } from "@mlrb/local/attempts/quarantine";
import { type Stopped, stopAttempt } from "@mlrb/local/attempts/stop-attempt";
import type { StateFolder } from "@mlrb/local/store/state-folder";
import { typedCommand } from "../request/typed-command.ts";
import { typedProgram } from "../request/typed-program.ts";
import { oneLine, printJson } from "../show/print.ts";
import type { TypedRun } from "./after-run.ts";
import { clearSandbox, endJobs } from "./executors.ts";
import type { Leaving } from "./until-finished.ts";

type Run = { state: StateFolder; json: boolean; asked: TypedRun };

export function leaving({ state, json, asked: { pipeline, options } }: Run): Omit<Leaving, "left"> {
  const stopCommand = (stage: string) => typedCommand("attempts stop", stage, { root: options.root });
  const folderOf = (name: string) => join(state.running, name);
  return {
    async printLeft(left) {
      // a stopped container or job ends its supervisors too
      const fates = await Promise.all(
        left.map(({ name }) => attemptFateInTime(folderOf(name), state.root, sealTimes.promised)),
      );
      const going = left.filter((_, at) => fates[at]!.kind === "going");
      for (const [at, fate] of fates.entries())
        if (fate.kind !== "going") printEnded(left[at]!.instance.id, fate, { json });
      for (const { instance, name } of going)
        if (json)
          printJson({ event: "attempt-left", stage: instance.id, name, stop: stopCommand(instance.id) });
      if (going.length === 0) return;
      const lines = going.map(
        ({ instance: { id } }) => `running ${id}\n        to stop it: ${stopCommand(id)}\n`,
      );
      const next = `        the next run continues ${going.length === 1 ? "it" : "them"}: ${typedCommand("run", pipeline, options)}\n`;
      process.stderr.write(`${lines.join("")}${next}`);
    },
    async stop(left) {
      await Promise.all(
        left.map(async ({ instance: { id }, name }) => {
          const attempt = attemptFolder(state.running, name);
          if (!attempt) return printEnded(id, attemptFate(folderOf(name), state.root), { json });
          const how = { state, clearSandbox, endJobs, by: "by a second Ctrl-C" };
          const stopped = await stopAttempt(attempt, how);
          printStopped(id, stopped, { json, stream: process.stderr });
        }),
      );
    },
  };
}

/** An attempt that the run left running, and that has ended or is ending anyway. */
function printEnded(stage: string, fate: Fate, { json }: { json: boolean }): void {
  if (json) {
    const { cause, cost, folder } = fate.kind === "quarantined" ? fate : {};
    printJson({ event: "attempt-ended", stage, became: fate.kind, cause, cost, folder });
  }
  process.stderr.write(`ended   ${stage}  (${oneLine(fateWords(fate))})\n`);
}

function fateWords(fate: Fate): string {
  switch (fate.kind) {
    case "going":
      return "still running";
    case "ending":
      return `is being stopped too; \`${typedProgram()} attempts list\` shows the result`;
    case "complete":
      return "finished by itself; the next run records it";
    case "quarantined":
      return `${causeWords(fate.cause)}; ${keptWords(fate)}`;
    case "broken-off":
      return `${causeWords(fate.cause)}; the next run continues it`;
    case "failed":
      return `${causeWords(fate.cause)}; the next run prints where its files are kept`;
    case "gone":
      return "it had done nothing yet, or another run took it over";
    default:
      return unreachable(fate);
  }
}

/** What became of an attempt that a person stopped. */
export function printStopped(
  stage: string,
  stopped: Stopped,
  { json, stream }: { json: boolean; stream: { write(text: string): unknown } },
): void {
  if (json) {
    const { cause, cost, folder } = stopped.kind === "quarantined" ? stopped : {};
    const { why } = stopped.kind === "refused" ? stopped : {};
    const { kind } = stopped;
    const became = { kept: kind !== "nothing", became: kind, cause, cost, folder, why };
    printJson({ event: "attempt-stopped", stage, ...became });
  } else if (stopped.kind === "refused")
    process.stderr.write(`not-stopped: ${stage}: ${oneLine(stopped.why)}\n`);
  else stream.write(`${stage}: ${oneLine(stoppedWords(stopped))}\n`);
}

function stoppedWords(settled: Exclude<Stopped, { kind: "refused" }>): string {
  switch (settled.kind) {
    case "complete":
      return "had finished by itself; the next run records it";
    case "quarantined":
      return `${causeWords(settled.cause)}; ${keptWords(settled)}`;
    case "nothing":
      return "stopped before it had done anything";
  }
}
