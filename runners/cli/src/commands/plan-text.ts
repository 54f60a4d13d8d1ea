// What a run would do, in text: counts for each stage and the first instances that would not be reused, or every
// instance. A benchmark has hundreds, of which a person looks at the few that run.
// Pure: no disk, no clock.
import { type Reason, reasonWords } from "@mlrb/core/key/reasons";
import { type TimeLeft, timeWords } from "@mlrb/core/schedule/time-left";
import { counted } from "@mlrb/core/text/counted";
import { columnLines } from "@mlrb/core/text/terminal-grid";
import type { Preview } from "@mlrb/local/decide/preview-plan";
import { startedIn } from "../gates/gate.ts";
import { clip } from "../show/clip.ts";

export type PlannedInstance = { id: string; stage: string } & Pick<
  Preview,
  "action" | "certain" | "reasons" | "onStale" | "expectedMs"
>;

/** Instances that are listed without --all. */
const listedMax = 10;

/** One line for an instance: `run    score[seed=1]  (code changed: …)`. */
export function planLine(planned: PlannedInstance): string {
  const { id, reasons } = planned;
  return `${verbs[kindOf(planned)]}  ${id}  (${reasons.map(reasonWords).join("; ")})`;
}

/** `width`: the columns of the terminal; infinite in a pipe, whose lines are not cut. */
export function planLines(planned: PlannedInstance[], width: number): string[] {
  const open = planned.filter(({ action }) => action !== "reuse");
  const reused = planned.length - open.length;
  if (open.length === 0) return [`all ${counted(reused, "stage instance")} would be reused`];
  const table = stageTable(planned, open, width);
  // an attempt that stays stale, or cannot run again, needs a person: it comes first
  const urgent = open.toSorted((a, b) => order.indexOf(kindOf(a)) - order.indexOf(kindOf(b)));
  // of a first run the table says everything
  const listed = (open.every(isFirst) ? [] : urgent)
    .slice(0, listedMax)
    .map((one) => clip(planLine(one), width));
  const more = open.length - listed.length;
  const all = `--all lists each of the ${counted(planned.length, "instance")}`;
  if (listed.length === 0) return [...table, all];
  return [...table, "", ...listed, more > 0 ? `… and ${more} more; ${all}` : all];
}

type Kind = "run" | "uncertain" | "rerun" | "stale" | "leave" | "reuse";

const order: Kind[] = ["leave", "stale", "rerun", "run", "uncertain", "reuse"];
const verbs: Record<Kind, string> = {
  run: "run  ",
  uncertain: "run ?",
  rerun: "rerun",
  stale: "stale",
  leave: "leave",
  reuse: "reuse",
};

type Decided = Omit<PlannedInstance, "id" | "stage">;

function kindOf(planned: Decided): Kind {
  const { action, certain, reasons, onStale } = planned;
  if (action === "stale" && isThinned({ reasons })) return "leave";
  if (action === "stale" && onStale === "rerun") return "rerun";
  if (action === "run") return certain || isFirst(planned) ? "run" : "uncertain";
  return action;
}

/** Whether it has never succeeded here: then nothing could be reused if its inputs come out the same. */
export function isFirst({ action, reasons, expectedMs }: Omit<Decided, "certain">): boolean {
  const isNew = ({ kind }: Reason) => ["first-run", "upstream-runs", "environment-missing"].includes(kind);
  return action === "run" && expectedMs === undefined && reasons.every(isNew);
}

function isThinned({ reasons }: Pick<Preview, "reasons">): boolean {
  return reasons.some(({ kind }) => kind === "thinned");
}

/** A row for each stage with something to do, in plan order, and one for the others together. */
function stageTable(planned: PlannedInstance[], open: PlannedInstance[], width: number): string[] {
  const kinds = order.filter((kind) => planned.some((one) => kindOf(one) === kind));
  const busy = Map.groupBy(open, ({ stage }) => stage);
  const byStage = Map.groupBy(planned, ({ stage }) => stage);
  const counts = (of: PlannedInstance[]) =>
    kinds.map((kind) => String(of.filter((one) => kindOf(one) === kind).length)).map(dash);
  const others = [...byStage].filter(([stage]) => !busy.has(stage));
  const rows = [
    ["stage", ...kinds.map((kind) => verbs[kind].trim()), "because"],
    ...[...byStage]
      .filter(([stage]) => busy.has(stage))
      .map(([stage, of]) => [stage, ...counts(of), commonReason(busy.get(stage)!)]),
    ...(others.length === 0
      ? []
      : [[counted(others.length, "other stage"), ...counts(others.flatMap(([, of]) => of)), ""]]),
  ];
  return columnLines(
    rows,
    kinds.map((_, at) => at + 1),
  ).map((line) => clip(line, width));
}

function dash(count: string): string {
  return count === "0" ? "-" : count;
}

/** The first reason of most instances. */
function commonReason(open: PlannedInstance[]): string {
  const counts = Map.groupBy(open, (one) => (isFirst(one) ? "first run" : stageReason(one.reasons[0])));
  const [[words], ...others] = [...counts].sort(([, a], [, b]) => b.length - a.length) as [
    [string, PlannedInstance[]],
    ...[string, PlannedInstance[]][],
  ];
  return others.length === 0 ? words : `${words}, and ${counted(others.length, "other reason")}`;
}

/** Without names of instances, so that those of a stage share it. */
function stageReason(reason: Reason | undefined): string {
  if (reason === undefined) return "";
  if (reason.kind === "upstream-runs") return "an input runs first";
  if (reason.kind === "input-changed") return `input changed: ${reason.input}`;
  return reasonWords(reason);
}

/**
 * `3 stages to run, 5 to reuse, 2 stale, about 4 m`. Stale attempts that --rerun starts are among those to run.
 * `time`: undefined without an estimate.
 */
export function summaryText(
  previews: Pick<Preview, "action" | "onStale" | "reasons">[],
  time: TimeLeft | undefined,
): string {
  const count = (wanted: Preview["action"]) => previews.filter(({ action }) => action === wanted).length;
  const started = startedIn(previews);
  const again = started.length - count("run");
  const thinned = previews.filter((one) => one.action === "stale" && isThinned(one)).length;
  const left = count("stale") - thinned - again;
  const stale = left > 0 ? `, ${left} stale` : "";
  const gone = thinned > 0 ? `, ${thinned} cannot run again (thinned)` : "";
  const rerun = again > 0 ? ` (${again} of them stale)` : "";
  const untimed = time && time.untimed > 0 ? `, ${time.untimed} without an estimate` : "";
  const takes = time ? `, ${timeWords(time)}${untimed}` : ", no estimate of the time";
  return `${counted(started.length, "stage")} to run${rerun}, ${count("reuse")} to reuse${stale}${gone}${started.length > 0 ? takes : ""}`;
}
