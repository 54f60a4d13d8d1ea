// How an agent's scores depend on what levels change of a task: one curve for each task and kind of change. A level
// has its own trivial baseline and reference, so a curve is on normalised scores where every level has both.

import { taskWithLevel, wholeLevel } from "@mlrb/core/spec/task-level";
import { mean } from "@mlrb/core/statistics/mean";
import { meanInterval } from "@mlrb/core/statistics/mean-interval";
import { holm } from "@mlrb/core/statistics/significance/holm";
import { trendTest } from "@mlrb/core/statistics/significance/trend-test";
import type { Report } from "@mlrb/formats/report";
import type { Cell } from "@mlrb/formats/report/cell";
import type { DoseCurve, DoseMean, Ladder, TaskLevel } from "@mlrb/formats/report/ladder";
import { grouped } from "../sections/report-words.ts";
import { scoreOverTime } from "./score-over-time.ts";

/** The report without what is at a level: the first lines count tasks, and a level is no further one. */
export function ofWholeTasks(report: Report): Report {
  const at = new Set(report.ladder?.levels.map(({ task, name }) => taskWithLevel(task, name)));
  if (at.size === 0) return report;
  const isWhole = ({ task }: { task: string }) => !at.has(task);
  return {
    ...report,
    tasks: report.tasks.filter(({ name }) => !at.has(name)),
    attempts: report.attempts.filter(isWhole),
    cells: report.cells.filter(isWhole),
  };
}

/** The curves of each task and kind of change; empty without levels. */
export function doseGroups({ ladder }: Pick<Report, "ladder">): DoseCurve[][] {
  return grouped(ladder?.curves ?? [], ({ task, of }) => [task, of]);
}

/** Undefined without levels. `margin`: of normalised means that count as equal to the baseline. */
export function ladder(
  report: Report,
  { levels, margin }: { levels: readonly TaskLevel[]; margin: number },
): Ladder | undefined {
  if (levels.length === 0) return undefined;
  const agents = report.agents.map(({ name }) => name);
  const kinds = [...Map.groupBy(levels, ({ task, of }) => JSON.stringify([task, of])).values()];
  const made = kinds.flatMap((own) =>
    agents.flatMap((agent) => curveOf(own, { report, agent, margin }) ?? []),
  );
  const tested = agents.map((agent) => {
    const blocks = made.filter(({ curve }) => curve.agent === agent).map(({ block }) => block);
    return { agent, curves: blocks.length, test: trendTest(blocks) };
  });
  const corrected = holm(tested.flatMap(({ test }) => test?.p ?? []));
  const trends = tested.map(({ test, ...of }) => {
    const found = { p: test?.p ?? null, pHolm: test ? corrected.shift()! : null };
    return { ...of, ...found, rises: test?.rises ?? null };
  });
  return { levels: [...levels], margin, curves: made.map(({ curve }) => curve), trends };
}

/** `block`: the values of each dose, the smallest first, where more is better. */
type Made = { curve: DoseCurve; block: number[][] };

function curveOf(
  levels: readonly TaskLevel[],
  { report, agent, margin }: { report: Report; agent: string; margin: number },
): Made | undefined {
  const { task, of, unit, whole } = levels[0]!;
  const places = [{ name: wholeLevel, dose: whole }, ...levels].sort((a, b) => b.dose - a.dose);
  const found = places.flatMap((place) => {
    const cell = report.cells.find(
      (one) => one.primary && one.task === taskWithLevel(task, place.name) && one.agent === agent,
    );
    return cell ? [{ ...place, cell }] : [];
  });
  const [first] = found;
  if (!first || found.length < 2) return undefined;
  const scaled = found.every(({ cell }) => cell.normalisedWithheld === null);
  const { metric, direction } = first.cell;
  const isUp = scaled || direction === "higher";
  const points = found.map((one): DoseMean & { values: number[] } => {
    const values = valuesOf(one.cell, scaled);
    const counted = (scaled ? one.cell.normalised : one.cell.counted).filter((value) => value !== null);
    const isFlat = values.every((value) => value === values[0]);
    const interval = isFlat ? null : (meanInterval(values) ?? null);
    const baseline = scaled ? 0 : one.cell.baseline;
    return {
      ...{ level: one.name, dose: one.dose, n: counted.length },
      ...{ mean: mean(counted) ?? null, interval, baseline, values },
    };
  });
  const isBetter = ({ interval, baseline }: DoseMean) =>
    interval !== null && baseline != null && (isUp ? interval[0] > baseline : interval[1] < baseline);
  const judged = noEasier(points, whole);
  const missed = judged.findIndex((one) => !isBetter(one));
  const beats = judged.slice(0, missed < 0 ? undefined : missed);
  const isEqual = ({ interval }: DoseMean) =>
    interval !== null && Math.max(-interval[0], interval[1]) <= margin;
  const ofWhole = found.find(({ name }) => name === wholeLevel)?.cell;
  return {
    curve: {
      ...{ task, of, unit, agent, metric, scaled },
      points: points.map(({ values: _, ...point }) => point),
      checkpoints: of === "time" && ofWhole ? checkpointsOf(report, ofWhole, scaled) : [],
      beats: beats.map(({ level }) => level),
      equal: scaled
        ? points.filter((one) => isEqual(one) && !beats.includes(one)).map(({ level }) => level)
        : [],
    },
    block: points.map(({ values }) => values.map((value) => (isUp ? value : -value))).reverse(),
  };
}

/** Points that are compared with the baseline, in order. What is easier than the whole task is not, e.g. more help. */
export function noEasier(points: readonly DoseMean[], whole: number): DoseMean[] {
  return points.filter(({ dose }) => dose <= whole);
}

/** Of the attempts that are not missing; one worse than the trivial baseline with its score, a failed one at it. */
function valuesOf(cell: Cell, scaled: boolean): number[] {
  const { counted, normalised, values, direction } = cell;
  return counted.flatMap((count, at) => {
    if (count === null) return [];
    const value = values[at];
    const isWorse = value != null && (direction === "higher" ? value < count : value > count);
    if (isWorse) return [scaled ? toScale(cell, value) : value];
    return [scaled ? normalised[at]! : count];
  });
}

function checkpointsOf(report: Report, cell: Cell, scaled: boolean): DoseCurve["checkpoints"] {
  const agents = scoreOverTime(report, cell.task)?.agents ?? [];
  const own = agents.find(({ agent }) => agent === cell.agent)?.at ?? [];
  return own
    .filter(({ share, mean }) => share < 1 && mean !== null)
    .map(({ share, measured, mean }) => ({
      share,
      n: measured,
      mean: scaled ? toScale(cell, mean!) : mean!,
    }));
}

/** As a share of the distance from the trivial baseline to the reference, of a cell that has both. */
export function toScale({ baseline, reference }: Cell, value: number): number {
  return (value - baseline!) / (reference! - baseline!);
}
