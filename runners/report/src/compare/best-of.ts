// What an agent gains from k attempts: pass@k, and the test score of the attempt that the task's public rows choose.
// The best test score of a group stands beside it as an upper bound and enters no comparison.
import { createHash } from "node:crypto";
import {
  bestOfK,
  betterThanOne,
  type ChosenAmong,
  choiceTest,
  type GroupChoice,
  passAtK,
  passAtKInterval,
  performanceProfile,
} from "@mlrb/core/statistics/best-of-k";
import { mean } from "@mlrb/core/statistics/mean";
import { holm } from "@mlrb/core/statistics/significance/holm";
import { superiorityInterval } from "@mlrb/core/statistics/significance/superiority-interval";
import type { Metric, Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { BestOf, CellOfK, TaskChoice } from "@mlrb/formats/report/best-of";
import type { Cell } from "@mlrb/formats/report/cell";
import { counting } from "./counting.ts";
import { untestableReasons } from "./left-out-reasons.ts";

type Asked = {
  /** The numbers of attempts to choose from, ascending. */
  bestOf: number[];
  success: (task: string) => number | string | null;
  devMetric: (task: string) => Metric | undefined;
  devValue: (attempt: Attempt, metric: Metric) => number | undefined;
  /** Levels of difficulty are in no number over tasks. */
  isWhole: (task: string) => boolean;
};

/** A success is a score above `over`, or from `least` on. */
type Success = Pick<TaskChoice, "success" | "beats">;

/** Undefined where nothing is asked for. */
export function bestOf(report: Report, asked: Asked): BestOf | undefined {
  if (asked.bestOf.length === 0) return undefined;
  const primary = report.cells.filter((cell) => cell.primary);
  const tasks = report.tasks.flatMap(({ name }): TaskChoice[] => {
    const cell = primary.find(({ task }) => task === name);
    if (!cell) return [];
    const success = successOf(cell, report, asked.success(name));
    return [{ task: name, metric: cell.metric, ...success, devScorer: asked.devMetric(name)?.name ?? null }];
  });
  const made = primary.flatMap((cell) => {
    const success = tasks.find(({ task }) => task === cell.task)!;
    const attempts = report.attempts.filter(({ task, agent }) => task === cell.task && agent === cell.agent);
    const metric = asked.devMetric(cell.task);
    const dev = attempts.map((attempt) => metric && asked.devValue(attempt, metric));
    return asked.bestOf.map((k) => ofCell(cell, { k, attempts, dev, success, direction: metric?.direction }));
  });
  const whole = made.filter(({ cell }) => asked.isWhole(cell.task));
  const scaled = report.acrossTasks.tasks.map(({ task }) => task);
  const rows = report.agents.flatMap(({ name }) =>
    asked.bestOf.map((k) => {
      const own = whole.filter(({ of }) => of.agent === name && of.k === k);
      return overTasks(own, { agent: name, k, scaled });
    }),
  );
  const corrected = holm(rows.flatMap(({ choice }) => choice?.p ?? []));
  return {
    tasks,
    cells: made.map(({ of }) => of),
    agents: rows.map(({ profile: _, choice, ...row }) => ({
      ...row,
      choice: choice && { ...choice, pHolm: corrected.shift()! },
    })),
    profiles: rows.flatMap(({ agent, k, profile }) =>
      profile.steps.length > 0 ? [{ agent, k, ...profile }] : [],
    ),
  };
}

function successOf(
  { task, metric, direction, referenceName }: Cell,
  report: Report,
  declared: number | string | null,
): Success {
  if (typeof declared === "number") return { success: declared, beats: null };
  const name = declared ?? referenceName;
  const row = report.rows.find((one) => one.task === task && one.metric === metric && one.name === name);
  if (!row || row.value === null || row.standardError === null) return { success: null, beats: name };
  const margin = 2 * row.standardError;
  return { success: direction === "higher" ? row.value + margin : row.value - margin, beats: name };
}

type OfCell = {
  k: number;
  attempts: Attempt[];
  /** Of each attempt. */
  dev: (number | undefined)[];
  success: Success;
  /** Of the dev scorer. */
  direction: "higher" | "lower" | undefined;
};

/** A cell at one k, with what the tests over tasks need. `chosen`: groups that a dev score chose from. */
type Made = { cell: Cell; of: CellOfK; chosen: ChosenAmong[]; normalised: number[]; trials: number };

function ofCell(cell: Cell, { k, attempts, dev, success, direction = "higher" }: OfCell): Made {
  const { task, agent, counted, seeds } = cell;
  const sign = cell.direction === "higher" ? 1 : -1;
  const results = attempts.map((attempt) => counting(attempt, cell.metric));
  const tries = results.map((result, at) => ({ result, dev: dev[at] }));
  const { groups, leftOut } = bestOfK(tries, { k, direction, seed: seedOf([task, agent, String(k)]) });
  const n = results.filter(({ kind }) => kind !== "missing").length;
  const { success: least, beats } = success;
  const isSuccess = (value: number) =>
    beats === null ? sign * (value - least!) >= 0 : sign * (value - least!) > 0;
  const c = results.filter((one) => one.kind === "valid" && isSuccess(one.value)).length;
  const isTestable = untestableReasons(cell).length === 0;
  const placeOf = ({ chosen, members }: GroupChoice) => chosen ?? members[0]!;
  const known = groups.filter(({ by }) => by !== "missing");
  const countedAs = (group: GroupChoice) => (group.by === "missing" ? null : counted[placeOf(group)]!);
  const oracleOf = ({ by, members }: GroupChoice) => {
    const values = members.map((member) => counted[member] ?? null);
    if (by === "missing" || values.includes(null)) return null;
    return sign * Math.max(...values.map((value) => sign * value!));
  };
  const better =
    k > 1 && isTestable
      ? betterThanOne(
          counted.map((value) => signed(value, sign)),
          groups.map((group) => ({ members: group.members, value: signed(countedAs(group), sign) })),
        )
      : undefined;
  return {
    cell,
    of: {
      ...{ task, agent, k, n, leftOut, successes: least === null ? null : c },
      passAtK: least === null ? null : (passAtK({ n, c, k }) ?? null),
      passInterval: least === null || !isTestable ? null : (passAtKInterval({ n, c, k }) ?? null),
      groups: groups.map((group) => ({
        seeds: group.members.map((member) => seeds[member]!),
        dev: group.members.map((member) => dev[member] ?? null),
        by: group.by,
        chosen: group.chosen === undefined ? null : seeds[group.chosen]!,
        value: countedAs(group),
        oracle: oracleOf(group),
      })),
      mean: meanOfKnown(known.map(countedAs)),
      normalisedMean: meanOfKnown(known.map((group) => cell.normalised[placeOf(group)]!)),
      oracle: meanOfKnown(known.map(oracleOf)),
      better: better?.value ?? null,
      betterInterval:
        (better && superiorityInterval([{ a: better.groups, b: better.groups }], better.value)) ?? null,
    },
    chosen: isTestable
      ? groups.flatMap(({ by, members, chosen }) => {
          const values = members.flatMap((member) => signed(counted[member]!, sign) ?? []);
          return by === "dev" && values.length === k ? [{ values, chosen: members.indexOf(chosen!) }] : [];
        })
      : [],
    trials: better?.groups ?? 0,
    normalised: known.flatMap((group) => cell.normalised[placeOf(group)] ?? []),
  };
}

function signed(value: number | null, sign: number): number | null {
  return value === null ? null : sign * value;
}

/** Null without values, or where one is unknown. */
function meanOfKnown(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === values.length ? (mean(known) ?? null) : null;
}

/** `own`: one agent's cells at one k. */
function overTasks(own: Made[], { agent, k, scaled }: { agent: string; k: number; scaled: string[] }) {
  const onScale = own.filter(({ of, normalised }) => scaled.includes(of.task) && normalised.length > 0);
  const betters = own.filter(({ trials }) => trials > 0);
  const better = mean(betters.map(({ of }) => of.better!));
  const passes = own.flatMap(({ of }) => of.passAtK ?? []);
  const test = choiceTest(own.flatMap(({ chosen }) => chosen));
  return {
    ...{ agent, k, tasks: betters.length, better: better ?? null },
    ...{ passAtK: mean(passes) ?? null, passTasks: passes.length },
    normalisedMean: meanOfKnown(onScale.map(({ of }) => of.normalisedMean)),
    betterInterval:
      better === undefined
        ? null
        : superiorityInterval(
            betters.map(({ trials }) => ({ a: trials, b: trials })),
            better,
          )!,
    choice: test ? { share: test.statistic, groups: test.groups, p: test.p, pMin: test.pMin } : null,
    profile: {
      tasks: onScale.map(({ of }) => of.task),
      steps: performanceProfile(onScale.map(({ normalised }) => normalised)),
    },
  };
}

/** Of the random choices of a cell, so that another task or agent does not move them. */
function seedOf(parts: string[]): number {
  return createHash("sha256").update(JSON.stringify(parts)).digest().readUInt32BE(0);
}
