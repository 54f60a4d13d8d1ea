// `pipeline log`: prints what a stage instance wrote when it last ran here; of an attempt, what its agent wrote.

import { once } from "node:events";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { stageMatcher } from "@mlrb/core/plan/select-instances";
import { didYouMean } from "@mlrb/core/yaml/suggest";
import { readFrom } from "@mlrb/kit/files/read-from";
import { waitingAttempts } from "@mlrb/local/attempts/attempt-waits";
import { journalLines } from "@mlrb/local/journal/journal-lines";
import { liveRuns } from "@mlrb/local/leases/live-runs";
import { logPath } from "@mlrb/local/stage/log-path";
import { stateFolder } from "@mlrb/local/store/state-folder";
import { trajectoryLines } from "@mlrb/report/exports/trajectory-lines";
import { printAttempt } from "../attempts/print-attempt.ts";
import { attemptFiles } from "../attempts/read-attempt.ts";
import { attemptPlace, newestAttempts } from "../request/find-attempt.ts";
import { refuseWords } from "../request/refuse.ts";
import { type PlaceOptions, rootFolder } from "../request/root-folder.ts";
import { shownWait, shownWaitText } from "../show/attempt-wait-text.ts";
import { oneLine, printJson } from "../show/print.ts";
import { printLog, tailStart } from "../show/print-log.ts";
import { stdoutLook } from "../show/terminal.ts";

type StageEvent = {
  event: string;
  time: string;
  stage?: string;
  outcome?: { kind: string };
  durationMs?: number;
  log?: string;
};

type LogOptions = PlaceOptions & { tail?: string };

/** The most of a log in a line of JSON, which also names the whole file. */
const jsonBytesMax = 8 << 20;

export async function logCommand(repository: string, pattern: string, options: LogOptions): Promise<number> {
  const tail = options.tail === undefined ? undefined : Number(options.tail);
  if (tail !== undefined && !(Number.isSafeInteger(tail) && tail >= 0))
    return refuseWords(`bad-tail: --tail ${options.tail} is not a whole number\n  help: e.g. --tail 100`);
  const root = rootFolder(repository, options.root);
  const state = stateFolder(root);
  const last = lastEvents(state.journals);
  const matches = stageMatcher(pattern);
  const found = [...last.values()].filter(({ stage }) => matches(stage!));
  if (found.length === 0) {
    const near =
      last.size > 0 ? `\n  help: ${didYouMean(pattern, last.keys())}` : "\n  help: nothing has run here yet";
    return refuseWords(`nothing-selected: no stage that ran here matches "${pattern}"${near}`);
  }
  const waiting = Map.groupBy(waitingAttempts(state.running), ({ card }) => card.slot.stage);
  const held = new Map(
    liveRuns(state).flatMap(({ waiting: of }) => of.map((one) => [one.stage, one] as const)),
  );
  const attempts = newestAttempts(
    found.map(({ stage }) => stage!),
    attemptPlace(repository, options.root),
  );
  for (const { stage, time, outcome, durationMs, event } of found) {
    const path = logPath(state.logs, stage!);
    const attempt = attempts.get(stage!);
    const { trajectory } = attempt ? attemptFiles(attempt) : {};
    const waits = (waiting.get(stage!) ?? []).map((one) => shownWait(one, { repository, root }));
    if (options.json) {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      const from = Math.max(size - jsonBytesMax, tail === undefined ? 0 : tailStart(path, tail));
      const text = readFrom(path, from, jsonBytesMax)?.toString("utf8") ?? "";
      printJson({
        ...{ event: "log", stage, time, outcome: outcome?.kind, durationMs, log: path, text },
        ...(from > 0 && { omittedBytes: from }),
        ...(trajectory !== undefined && { trajectory }),
        ...(held.has(stage!) && { held: held.get(stage!) }),
        ...(waits.length > 0 && { waits: waits.flatMap((one) => one.waits) }),
      });
      continue;
    }
    process.stdout.write(
      `== ${stage}  ${outcome?.kind ?? (event === "waiting" ? "not started" : "running or killed")}  ${time}\n`,
    );
    if (trajectory !== undefined && existsSync(trajectory)) {
      // the last line of a running attempt may be written right now
      const torn = attempt?.kind === "running" ? "broken" : "none";
      const lines = trajectoryLines(trajectory).filter(({ kind }) => kind !== torn);
      await printAttempt(lines, printed, { tail, ...stdoutLook() });
      process.stdout.write("== its supervisor\n");
    }
    await printLog(path, printed, { tail });
    const other = held.get(stage!);
    if (other) process.stdout.write(`== waiting now: ${oneLine(other.why)}, since ${other.since}\n`);
    for (const wait of waits)
      process.stdout.write(`== ${oneLine(`now it ${shownWaitText(wait, Date.now())}`)}\n`);
  }
  return 0;
}

/** Resolves once stdout has room: the log of a slow reader must not pile up in memory. */
async function printed(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain").catch(() => {}); // its reader is gone
}

/** The last execution of each stage instance in any run, from the journals; reuse leaves no log. */
function lastEvents(journals: string): Map<string, StageEvent> {
  const last = new Map<string, StageEvent>();
  const names = readdirSync(journals).filter((name) => name.endsWith(".jsonl"));
  for (const name of names.sort())
    for (const line of journalLines(join(journals, name)) as Partial<StageEvent>[]) {
      const { event, stage, log } = line;
      const isExecution = event === "start" || event === "waiting" || log !== undefined;
      if (stage !== undefined && isExecution) last.set(stage, line as StageEvent);
    }
  return last;
}
