// Says of attempts that go on without the run that was interrupted how to stop them and what the next run does, and
// stops them where the person says so at once.
import { attemptFolder } from "@mlrb/local/attempt-folders";
import { causeWords, keptWords } from "@mlrb/local/quarantine";
import type { Settled } from "@mlrb/local/settle-attempt";
import type { StateFolder } from "@mlrb/local/state-folder";
import { stopAttempt } from "@mlrb/local/stop-attempt";
import type { Asked } from "./after-run.ts";
import { askAgain, shellWord } from "./ask-again.ts";
import { clearSandbox } from "./executors.ts";
import type { LeftAttempt } from "./until-finished.ts";

type Run = { state: StateFolder; json: boolean; asked: Asked };

export function leaving({ state, json, asked: { pipeline, options } }: Run): {
  sayLeft(left: readonly LeftAttempt[]): void;
  stop(left: readonly LeftAttempt[]): Promise<void>;
} {
  const root = options.root === undefined ? "" : ` --root ${shellWord(options.root)}`;
  const stopCommand = (stage: string) => `pnpm pipeline attempts stop ${shellWord(stage)}${root}`;
  return {
    sayLeft(left) {
      for (const { instance, name } of left)
        if (json) print({ event: "attempt-left", stage: instance.id, name, stop: stopCommand(instance.id) });
      const lines = left.map(
        ({ instance: { id } }) => `goes on ${id}\n        to stop it: ${stopCommand(id)}\n`,
      );
      const next = `        the next run goes on with ${left.length === 1 ? "it" : "them"}: ${askAgain("run", pipeline, options)}\n`;
      process.stderr.write(`${lines.join("")}${next}`);
    },
    async stop(left) {
      await Promise.all(
        left.map(async ({ instance: { id }, name }) => {
          const attempt = attemptFolder(state.running, name);
          if (!attempt) return;
          const settled = await stopAttempt(attempt, { state, clearSandbox, by: "by a second Ctrl-C" });
          sayStopped(id, settled, { json, stream: process.stderr });
        }),
      );
    },
  };
}

/** What became of an attempt that a person stopped. */
export function sayStopped(
  stage: string,
  settled: Settled,
  { json, stream }: { json: boolean; stream: { write(text: string): unknown } },
): void {
  if (json) {
    const { cause, cost, folder } = settled.kind === "quarantined" ? settled : {};
    print({
      event: "attempt-stopped",
      stage,
      kept: settled.kind !== "nothing",
      became: settled.kind,
      cause,
      cost,
      folder,
    });
  } else stream.write(`${stage}: ${stoppedWords(settled)}\n`);
}

function stoppedWords(settled: Settled): string {
  switch (settled.kind) {
    case "complete":
      return "had ended by itself; the next run keeps it";
    case "quarantined":
      return `${causeWords(settled.cause)}; ${keptWords(settled)}`;
    case "nothing":
      return "stopped before it had done anything";
  }
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
