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
import type { Interval } from "@mlrb/core/statistics/mean-interval";
import { holm } from "@mlrb/core/statistics/significance/holm";
import { superiorityInterval } from "@mlrb/core/statistics/significance/superiority-interval";
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { BestOf, CellOfK, TaskChoice } from "@mlrb/formats/report/best-of";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Evidence } from "../read/read-evidence.ts";
import type { ReportParams } from "../read/report-params.ts";
import { counting } from "./counting.ts";
import { untestableReasons } from "./left-out-reasons.ts";

type Asked = Pick<ReportParams, "bestOf" | "success" | "devMetric" | "isWhole"> & Pick<Evidence, "devValue">;

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
  const whole = made.filter(({ of }) => asked.isWhole(of.task));
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
    agents: rows.map(({ profile: _, choice, ...row }) => {
      return { ...row, choice: choice && { ...choice, pHolm: corrected.shift()! } };
    }),
    profiles: rows
      .map(({ agent, k, profile }) => ({ agent, k, ...profile }))
      .filter(({ steps }) => steps.length > 0),
  };
}

function successOf(cell: Cell, report: Report, declared: number | string | null) {
  const { task, metric, direction, referenceName } = cell;
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
  success: TaskChoice;
  /** Of the dev scorer. */
  direction: "higher" | "lower" | undefined;
};

/** A cell at one k, and what numbers over tasks need: `chosen` by dev scores, `trials` groups of P(better than one). */
type Made = { of: CellOfK; chosen: ChosenAmong[]; normalised: number[]; trials: number };

function ofCell(cell: Cell, { k, attempts, dev, success: { success, beats }, direction }: OfCell): Made {
  const { task, agent, seeds } = cell;
  const sign = cell.direction === "higher" ? 1 : -1;
  const values = cell.counted.map((value) => (value === null ? null : sign * value));
  const results = attempts.map((attempt) => counting(attempt, cell.metric));
  const tries = results.map((result, at) => ({ result, dev: dev[at] }));
  const seed = seedOf([task, agent, String(k)]);
  const { groups, leftOut } = bestOfK(tries, { k, direction: direction ?? "higher", seed });
  const all = groups.map((group) => ({ ...group, ...countedAs(group, cell) }));
  const known = all.filter(({ by }) => by !== "missing");
  const n = results.filter(({ kind }) => kind !== "missing").length;
  const c = results.filter((one) => {
    const ahead = one.kind === "valid" && success !== null ? sign * (one.value - success) : -1;
    return ahead > 0 || (ahead === 0 && beats === null); // a row must be beaten
  }).length;
  const isTestable = untestableReasons(cell).length === 0;
  const signed = all.map(({ members, value }) => ({ members, value: value === null ? null : sign * value }));
  const better = k > 1 && isTestable ? betterThanOne(values, signed) : undefined;
  const among = ({ members, chosen }: GroupChoice): ChosenAmong[] => {
    const own = members.flatMap((member) => values[member] ?? []);
    return own.length === k ? [{ values: own, chosen: members.indexOf(chosen!) }] : [];
  };
  return {
    of: {
      ...{ task, agent, k, n, leftOut, successes: success === null ? null : c },
      passAtK: success === null ? null : (passAtK({ n, c, k }) ?? null),
      passInterval: success === null || !isTestable ? null : (passAtKInterval({ n, c, k }) ?? null),
      groups: all.map(({ members, by, chosen, value, oracle }) => ({
        seeds: members.map((member) => seeds[member]!),
        dev: members.map((member) => dev[member] ?? null),
        ...{ by, chosen: chosen === undefined ? null : seeds[chosen]!, value, oracle },
      })),
      mean: meanOfKnown(known.map(({ value }) => value)),
      normalisedMean: meanOfKnown(known.map(({ normalised }) => normalised)),
      oracle: meanOfKnown(known.map(({ oracle }) => oracle)),
      ...{ better: better?.value ?? null, betterInterval: intervalOf(better?.value, [better?.groups ?? 0]) },
    },
    chosen: isTestable ? all.filter(({ by }) => by === "dev").flatMap(among) : [],
    normalised: known.flatMap(({ normalised }) => normalised ?? []),
    trials: better?.groups ?? 0,
  };
}

function countedAs(
  { by, members, chosen = members[0]! }: GroupChoice,
  { counted, normalised, direction }: Cell,
) {
  if (by === "missing") return { value: null, normalised: null, oracle: null };
  const values = members.flatMap((member) => counted[member] ?? []);
  const best = direction === "higher" ? Math.max : Math.min;
  const oracle = values.length < members.length ? null : best(...values);
  return { value: counted[chosen]!, normalised: normalised[chosen]!, oracle };
}

/** Of P(better than one) over tasks with so many groups; those are at most as many as the single attempts. */
function intervalOf(better: number | undefined, trials: number[]): Interval | null {
  if (better === undefined) return null;
  const tasks = trials.map((groups) => ({ a: groups, b: groups }));
  return superiorityInterval(tasks, better) ?? null;
}

/** Null without values, or where one is unknown. */
function meanOfKnown(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === values.length ? (mean(known) ?? null) : null;
}

/** `own`: one agent's cells at one k. */
function overTasks(own: Made[], { agent, k, scaled }: { agent: string; k: number; scaled: string[] }) {
  const onScale = own.filter(({ of, normalised }) => scaled.includes(of.task) && normalised.length > 0);
  const compared = own.filter(({ trials }) => trials > 0);
  const better = mean(compared.map(({ of }) => of.better!));
  const trials = compared.map((one) => one.trials);
  const passes = own.flatMap(({ of }) => of.passAtK ?? []);
  const test = choiceTest(own.flatMap(({ chosen }) => chosen));
  return {
    ...{
      agent,
      k,
      tasks: compared.length,
      better: better ?? null,
      betterInterval: intervalOf(better, trials),
    },
    ...{ passAtK: mean(passes) ?? null, passTasks: passes.length },
    normalisedMean: meanOfKnown(onScale.map(({ of }) => of.normalisedMean)),
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
