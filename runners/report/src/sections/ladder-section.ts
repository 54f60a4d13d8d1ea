// At which difficulty agents fail: their means by dose, what is still shown, and one test of a trend for each agent.
import { wholeLevel } from "@mlrb/core/spec/task-level";
import type { Report } from "@mlrb/formats/report";
import type { DoseCurve, DoseMean, Ladder } from "@mlrb/formats/report/ladder";
import { doseGroups, noEasier } from "../compare/ladder.ts";
import { metricOf } from "../units/shown-metric.ts";
import { pText } from "./digits-text.ts";
import { listText, metricHead } from "./report-words.ts";
import { type Section, type Table, type TableCell, textCell } from "./table.ts";
import { column, noNumber, numeric, oneGroup, tableOf } from "./table-of.ts";

/** Empty without levels. */
export function ladderSections(report: Report): Section[] {
  const { ladder } = report;
  if (!ladder) return [];
  return [
    {
      heading: "Levels of difficulty",
      caption:
        "Each level changes one thing of a task and has its own trivial baseline (0) and reference model (1); where a level " +
        "lacks one of them, means are in the metric's unit. Failed attempts count as the trivial baseline. In brackets: " +
        "Student-t, 95 %, over attempts, where one worse than the baseline counts with its score. “At” rows are attempts at " +
        "the whole task as they stood at that share of their time: they did not know of a shorter one, so they are no attempts " +
        "at that level. " +
        (report.smoke ? "Nothing here says how difficult the official tasks are. " : "") +
        "An agent's levels are compared with the baseline in order, from the whole task to harder ones, and each only if it " +
        "was shown at the one before. Levels that are easier than the whole task are not compared.",
      tables: [...doseGroups(report).map((curves) => doseTable(report, curves)), trendTable(ladder)],
      items: ladder.curves.map((curve) => ({ head: headOf(curve), text: shownText(curve, ladder) })),
    },
  ];
}

const headOf = ({ task, of, agent }: DoseCurve) => `${task}, ${of}, ${agent}`;

/** What is shown of one agent, in fixed words. */
function shownText({ task, of, points, beats, equal }: DoseCurve, { levels, margin }: Ladder): string {
  const { whole } = levels.find((one) => one.task === task && one.of === of)!;
  const judged = noEasier(points, whole);
  const place = ({ level }: DoseMean) => (level === wholeLevel ? "the whole task" : level);
  if (judged.length === 0)
    return "not compared with the baseline: the whole task is not shown, and all levels are easier";
  const next = judged[beats.length];
  const parts = [
    beats.length > 0 && `shown to beat the baseline at ${listText(judged.slice(0, beats.length).map(place))}`,
    next?.baseline == null
      ? next && `${place(next)} has no trivial baseline`
      : `${beats.length > 0 ? "no longer" : "not"} shown to beat the baseline at ${place(next)}`,
    equal.length > 0 && `equal to the baseline within ${margin} at ${listText(equal)}`,
  ];
  return parts.filter(Boolean).join("; ");
}

type DoseRow = { name: string; dose: number; cellOf: (agent: string) => TableCell };

function doseTable(report: Report, curves: DoseCurve[]): Table {
  const [{ task, of, unit, metric, scaled }] = curves as [DoseCurve];
  const levels = [
    ...new Map(curves.flatMap(({ points }) => points.map((one) => [one.level, one.dose] as const))),
  ];
  const shares = [...new Set(curves.flatMap(({ checkpoints }) => checkpoints.map(({ share }) => share)))];
  const baselines = new Map(
    curves.flatMap(({ points }) => points.map(({ level, baseline }) => [level, baseline?.toFixed(2)])),
  );
  const curveOf = (agent: string) => curves.find((one) => one.agent === agent);
  const rows: DoseRow[] = [
    ...levels.map(([name, dose]) => ({
      ...{ name, dose },
      cellOf: (agent: string) => doseCell(curveOf(agent)?.points.find(({ level }) => level === name)),
    })),
    ...shares.map((share) => ({
      ...{ name: `at ${Math.round(100 * share)} % of the whole task's time`, dose: share },
      cellOf: (agent: string) => doseCell(curveOf(agent)?.checkpoints.find((one) => one.share === share)),
    })),
  ];
  const scale = scaled ? "normalised ↑" : metricHead(metricOf(report, metric));
  return tableOf(`${task} by ${of}: ${scale}`, oneGroup(rows), [
    column("level", ({ name }) => name),
    numeric(unit, ({ dose }) => String(Number(dose.toPrecision(3)))),
    ...(scaled ? [] : [numeric("trivial baseline", ({ name }: DoseRow) => baselines.get(name) ?? noNumber)]),
    ...curves.map(({ agent }) => numeric(agent, ({ cellOf }: DoseRow) => cellOf(agent))),
  ]);
}

function doseCell(
  found: (Pick<DoseMean, "mean" | "n"> & { interval?: DoseMean["interval"] }) | undefined,
): TableCell {
  if (!found || found.mean === null) return noNumber;
  const { mean, n, interval } = found;
  const ends = interval ? ` [${interval.map((end) => end.toFixed(2)).join(", ")}]` : "";
  return textCell(`${mean.toFixed(2)}${ends} (n ${n})`);
}

function trendTable({ trends }: Ladder): Table {
  type Trend = Ladder["trends"][number];
  const way = ({ rises }: Trend) =>
    rises === null ? "neither" : rises ? "with the dose" : "against the dose";
  return tableOf("Trend, one test for each agent over all its curves", oneGroup(trends), [
    column("agent", ({ agent }: Trend) => agent),
    numeric("curves", ({ curves }: Trend) => String(curves)),
    column("scores rise", (one) => (one.p === null ? "–" : way(one))),
    numeric("p", ({ p }) => (p === null ? noNumber : pText(p))),
    numeric("p (Holm over agents)", ({ pHolm }) => (pHolm === null ? noNumber : pText(pHolm))),
  ]);
}
