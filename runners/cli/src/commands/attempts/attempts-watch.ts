// `pipeline attempts watch`: shows what the agent of a running attempt does, what it has used and the time left.
// It only reads; the attempt continues without it.

import { existsSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { formatDuration } from "@mlrb/core/text/units";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { type AttemptFolder, attemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { waitsIn } from "@mlrb/local/attempts/attempt-waits";
import { outputPaths } from "@mlrb/local/stage/output-paths";
import { stateFolder } from "@mlrb/local/store/state-folder";
import type { TrajectoryLine } from "@mlrb/report/exports/attempt-source";
import { budgetParts } from "@mlrb/report/story/budget-parts";
import { timelineLines } from "@mlrb/report/story/story-text";
import { FollowedTrajectory } from "../../attempts/follow-trajectory.ts";
import { storyLine } from "../../attempts/story-line.ts";
import { findRunning } from "../../request/find-running.ts";
import { refuseWords } from "../../request/refuse.ts";
import { type PlaceOptions, rootFolder } from "../../request/root-folder.ts";
import { typedProgram } from "../../request/typed-program.ts";
import { LiveBlock } from "../../run/live-block.ts";
import { shownWait, shownWaitText } from "../../show/attempt-wait-text.ts";
import { clip } from "../../show/clip.ts";
import { printJson, printLine } from "../../show/print.ts";
import { isLive, stdoutLook } from "../../show/terminal.ts";

export type WatchOptions = PlaceOptions & { all: boolean };

const lookMs = 500;

export async function attemptsWatch(
  repository: string,
  what: string | undefined,
  options: WatchOptions,
): Promise<number> {
  const root = rootFolder(repository, options.root);
  const { running } = stateFolder(root);
  const attempt = findRunning(what, { state: { running } });
  if (typeof attempt === "string") return refuseWords(attempt);
  const { trajectory, ledger } = outputPaths(attempt.path, attempt.card.gives);
  if (trajectory === undefined)
    return refuseWords(`no-trajectory: ${attempt.card.slot.stage} writes no trajectory to watch`);
  const followed = new FollowedTrajectory(trajectory);
  const block = !options.json && isLive(process.stdout) ? new LiveBlock(process.stdout) : undefined;
  const below = () =>
    block ? [clip(stateWords(attempt, { ledger, repository, root }), stdoutLook().width - 1)] : [];
  if (!options.json) printLine(attempt.card.slot.stage);
  for (;;) {
    // read before the last look: the folder moves when the attempt is kept
    const going = attemptFolder(running, attempt.name)?.state.kind === "running";
    const lines = followed.next();
    for (const line of lines) print(line, { ...options, block, below });
    const ended = lines.some((line) => line.kind === "event" && line.event.event === "end");
    const broken = lines.some((line) => line.kind === "broken");
    if (ended || broken || !going) {
      block?.clear();
      if (!options.json && !ended)
        process.stdout.write(`\`${typedProgram()} attempts list\` says what became of it\n`);
      return broken ? 1 : 0;
    }
    block?.draw(below());
    await sleep(lookMs);
  }
}

type Shown = { json: boolean; all: boolean; block: LiveBlock | undefined; below: () => string[] };

function print(line: TrajectoryLine, { json, all: full, block, below }: Shown): void {
  if (json) {
    printJson({
      ...line,
      event: "attempt-event",
      trajectoryEvent: line.kind === "event" ? line.event : null,
    });
    return;
  }
  const shown = storyLine(line, { full });
  if (!shown) return;
  for (const row of timelineLines(shown, { ...stdoutLook(), full })) {
    if (block) block.above([row], below());
    else process.stdout.write(`${row}\n`);
  }
}

type StatePlace = { ledger: string | undefined; repository: string; root: string };

/** What the attempt waits for, or the time left, and what it has used so far. */
function stateWords(attempt: AttemptFolder, { ledger: file, repository, root }: StatePlace): string {
  const read = file === undefined || !existsSync(file) ? undefined : readLedger(file);
  const ledger = read === undefined || typeof read === "string" ? undefined : read;
  const waits = waitsIn(attempt.path);
  const waiting =
    waits.length === 0
      ? undefined
      : shownWaitText(shownWait({ ...attempt, waits }, { repository, root }), Date.now());
  if (!ledger) return waiting ?? "no ledger yet";
  const agoMs = waiting === undefined ? Math.max(0, Date.now() - statSync(file!).mtimeMs) : 0;
  return [waiting ?? leftWords(ledger, agoMs), usedWords(ledger)].join("; ");
}

/** `agoMs`: since the ledger was written. */
function leftWords({ budget, workingMs }: Ledger, agoMs: number): string {
  return `about ${formatDuration(Math.max(0, budget.wallMs - workingMs - agoMs))} left`;
}

function usedWords(ledger: Ledger): string {
  const named = ["working time", "dollars", "tokens"];
  return budgetParts(ledger)
    .filter(({ name }) => named.includes(name))
    .map(({ name, words }) => `${name} ${words}`)
    .join(", ");
}
