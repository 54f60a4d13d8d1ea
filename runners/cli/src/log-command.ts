// `pipeline log`: what a stage instance said when it last ran here.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { matcher } from "@mlrb/core/select-instances";
import { didYouMean } from "@mlrb/core/suggest";
import { journalLines } from "@mlrb/local/journal-lines";
import { logPath } from "@mlrb/local/run-request";
import { stateFolder } from "@mlrb/local/state-folder";
import { rootOf } from "./root-of.ts";

type StageEvent = {
  event: string;
  time: string;
  stage?: string;
  outcome?: { kind: string };
  durationMs?: number;
  log?: string;
};

export function logCommand(
  repository: string,
  pattern: string,
  options: { root?: string; json: boolean },
): number {
  const state = stateFolder(rootOf(repository, options.root));
  const last = lastEvents(state.journals);
  const matches = matcher(pattern);
  const found = [...last.values()].filter(({ stage }) => {
    const parsed = /^([^[]+)(?:\[(.*)\])?$/.exec(stage!)!;
    const axes = Object.fromEntries(
      (parsed[2] ?? "")
        .split(",")
        .filter(Boolean)
        .map((part) => part.split("=", 2) as [string, string]),
    );
    return stage === pattern || matches(parsed[1]!, axes);
  });
  if (found.length === 0) {
    const near =
      last.size > 0 ? `\n  help: ${didYouMean(pattern, last.keys())}` : "\n  help: nothing has run here yet";
    process.stderr.write(`nothing-selected: no stage that ran here matches "${pattern}"${near}\n`);
    return 2;
  }
  for (const { stage, time, outcome, durationMs } of found) {
    const path = logPath(state.logs, stage!);
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    if (options.json) {
      process.stdout.write(
        `${JSON.stringify({ event: "log", stage, time, outcome: outcome?.kind, durationMs, log: path, text })}\n`,
      );
      continue;
    }
    process.stdout.write(
      `== ${stage}  ${outcome?.kind ?? "running or killed"}  ${time}\n${text}${text.endsWith("\n") || text === "" ? "" : "\n"}`,
    );
  }
  return 0;
}

/** The last execution of each stage instance in any run, by the journals; reuse leaves no log. */
function lastEvents(journals: string): Map<string, StageEvent> {
  const last = new Map<string, StageEvent>();
  for (const file of readdirSync(journals)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()) {
    for (const line of journalLines(join(journals, file))) {
      const event = line as Partial<StageEvent>;
      if (event.stage !== undefined && (event.event === "start" || event.log !== undefined))
        last.set(event.stage, event as StageEvent);
    }
  }
  return last;
}
