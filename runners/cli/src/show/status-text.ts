// The text of `pipeline status`.
// Pure: the time of day is an argument.

import { counted } from "@mlrb/core/text/counted";
import { columnLines } from "@mlrb/core/text/terminal-grid";
import { formatDuration } from "@mlrb/core/text/units";
import type { LiveRun } from "@mlrb/local/leases/live-runs";
import { ownerWords } from "@mlrb/local/leases/owner";
import { sumsWords } from "../attempts/attempt-sums.ts";
import { costWords } from "../gates/total-cost.ts";
import { typedCommand } from "../request/typed-command.ts";
import type { NextStep } from "../run/next-steps.ts";
import { shownWaitText } from "./attempt-wait-text.ts";
import { type StateCounts, states, stateWords, stateWordsOf, sumStates } from "./instance-state.ts";
import { oneLine } from "./print.ts";
import { shorten } from "./shorten.ts";
import type { Status } from "./status.ts";

const shownMax = 20;

/** `now` in milliseconds since 1970; `root` as typed. */
export function statusText(
  status: Status,
  {
    next,
    now,
    root,
    all = false,
  }: { next: NextStep[]; now: number; root?: string | undefined; all?: boolean },
): string {
  const { pipeline, profile, selection, runs, failed, attempts } = status;
  const out = [
    `${pipeline} (${profile}${selection === "" ? "" : `, ${selection}`}): ${countWords(status.states)}`,
  ];
  out.push("", ...stageTable(status, all));
  for (const { owner, since, stages, life, run, waiting, queued } of runs) {
    const sight = life === "elsewhere" ? "; whether it is alive is not known here" : "";
    out.push("", `run ${run}, ${ownerWords(owner)}, started ${ago(since, now)} ago${sight}`);
    for (const one of stages.slice(0, shownMax)) out.push(`  ${one.stage}  ${runningWords(one, now)}`);
    if (stages.length > shownMax) out.push(`  … and ${stages.length - shownMax} more`);
    for (const { stage, why, since: from } of waiting.slice(0, shownMax))
      out.push(`  ${stage}  waits: ${oneLine(why)}, for ${ago(from, now)}`);
    if (waiting.length > shownMax) out.push(`  … and ${waiting.length - shownMax} more waiting`);
    if (queued !== "") out.push(`  ${queued}`);
    if (stages.length + waiting.length === 0) out.push("  nothing right now");
  }
  if (status.orphans.length > 0) out.push("", "attempts running without a run");
  for (const { stage, since, supervisor } of status.orphans)
    out.push(`  ${stage}  for ${ago(since, now)}, ${ownerWords(supervisor)}`);
  out.push(...othersLines(status, root));
  if (status.waits.length > 0) out.push("", "waiting attempts");
  for (const wait of status.waits) out.push(`  ${wait.stage}`, `      ${oneLine(shownWaitText(wait, now))}`);
  if (status.damaged.length > 0) out.push("", "damaged attempts, which may still be running");
  for (const words of status.damaged) out.push(`  ${oneLine(words)}`);
  if (status.gpus.length > 0) out.push("", "GPUs in use on this host");
  for (const { index, model, uuid, stage, run, owner, since } of status.gpus)
    out.push(
      `  ${index}  ${model} (${uuid})  ${stage} of run ${run}, ${ownerWords(owner)}, for ${ago(since, now)}`,
    );
  if (failed.length > 0) out.push("", "failed in their last run");
  for (const { stage, cause, time } of failed.slice(0, shownMax))
    out.push(`  ${stage}  ${shorten(oneLine(cause), 200)}  (${ago(time, now)} ago)`);
  if (failed.length > shownMax) out.push(`  … and ${failed.length - shownMax} more`);
  if (status.troubles.length > 0)
    out.push("", "infrastructure failures and waits; repair the cause, then type");
  for (const { stage, why, command } of status.troubles)
    out.push(`  ${command}`, `      ${stage}: ${shorten(oneLine(why), 200)}`);
  if (attempts) {
    const cost = attempts.cost.attempts > 0 ? `; to run the missing ones: ${costWords(attempts.cost)}` : "";
    out.push("", `attempts: ${countWords(attempts.states)}${cost}`);
    const spent = attempts.spent && sumsWords(attempts.spent);
    if (spent !== undefined) out.push(`spent by all selections of ${pipeline} (${profile}): ${spent}`);
  }
  if (status.states.uncertain > 0)
    out.push("", "uncertain: an input runs first; reused after all if that input comes out the same");
  if (status.thinned > 0)
    out.push(
      "",
      `thinned: ${counted(status.thinned, "stage instance")} cannot run again, because weights were removed; \`plan\` names them`,
    );
  if (next.length > 0) out.push("", "next");
  for (const { why, command } of next) out.push(`  ${command}`, `      ${why}`);
  return `${out.join("\n")}\n`;
}

/** What the same pipeline runs with other seeds, agents or selections. */
function othersLines({ others }: Status, root: string | undefined): string[] {
  if (others === undefined || others.attempts + others.runs === 0) return [];
  const { attempts, runs } = others;
  const counts = [
    attempts > 0 ? counted(attempts, "running attempt") : "",
    runs > 0 ? counted(runs, "run") : "",
  ].filter((words) => words !== "");
  const list = typedCommand("attempts list --state running", [], { root });
  return ["", `not of this plan: ${counts.join(", ")}; \`${list}\``];
}

function countWords(counts: StateCounts): string {
  return stateWordsOf(counts).join(", ") || "nothing is selected";
}

/** A column for every state with an instance; stages of a group in one row, unless `each`. */
function stageTable({ stages: every, states: all }: Status, each: boolean): string[] {
  const columns = states.filter((state) => state === "upToDate" || all[state] > 0);
  const groups = Map.groupBy(every, ({ name, group }) => (each ? name : (group ?? name)));
  const stages = [...groups].map(([name, of]) => ({
    name,
    instances: of.reduce((sum, { instances }) => sum + instances, 0),
    states: sumStates(of.map(({ states }) => states)),
  }));
  const rows = [
    ["stage", "instances", ...columns.map((state) => stateWords[state])],
    ...stages.map(({ name, instances, states: counts }) => [
      name,
      String(instances),
      ...columns.map((state) => (counts[state] === 0 ? "-" : String(counts[state]))),
    ]),
  ];
  return columnLines(rows, rows[0]!.map((_, at) => at).slice(1));
}

/** `for 2 m`; of a stage that a scheduler runs: `queued for 3 m`, or `for 2 m on n1, queued 3 m before`. */
function runningWords({ since, place }: LiveRun["stages"][number], now: number): string {
  if (!place) return `for ${ago(since, now)}`;
  if (place.kind === "queued") return `queued for ${ago(place.since, now)}`;
  const { node, queuedMs } = place;
  const queued = queuedMs === undefined ? "" : `, queued ${formatDuration(queuedMs)} before`;
  return `for ${ago(place.since, now)} on ${oneLine(node)}${queued}`;
}

function ago(time: string, now: number): string {
  return formatDuration(Math.max(0, Math.floor((now - Date.parse(time)) / 1000) * 1000));
}
