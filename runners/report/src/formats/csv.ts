// The report for spreadsheets and data frames, after RFC 4180: a row for each attempt and metric, then trivial
// baselines and reference models, published values, and values over tasks. Numbers are in full; texts cannot become
// formulas.

import type { Published, Report } from "@mlrb/formats/report";
import type { Attempt, Seed } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";
import type { Row } from "@mlrb/formats/report/row";
import { bestAttempt } from "../paper/best-attempts.ts";
import { builtOf } from "../paper/built-section.ts";
import { reportCondition } from "../read/condition-words.ts";
import { decisionText } from "../read/decisions.ts";
import { importedText } from "../read/imported-words.ts";
import { byText } from "../read/order.ts";
import { uncheckedText } from "../read/unchecked-words.ts";
import { weakLimitsText } from "../read/weak-limits-words.ts";
import { scoreError } from "../sections/digits-text.ts";
import { columns, type Fields } from "./csv-fields.ts";
import { csvLine } from "./csv-line.ts";
import { summaryRows } from "./csv-summary-rows.ts";

/**
 * report.csv, with CRLF. `kind` is attempt, anchor, floor (a row that is the trivial baseline), published, beside (a
 * secondary measurement of an attempt, named in `row`), built (likewise: what it built), research (likewise), memorisation (an attempt's difference in bits
 * per byte between private and matched public texts, relative to a reference; it changes no number), moment (an intermediate checkpoint at the
 * share of the budget in `row`; it does not count), sensitivity (a primary mean in the variant `row`, in which `n`
 * attempts count in another way), best (the best valid attempt of an agent at a task, of `n` attempts: never compared), or
 * across-tasks, where `row` names the statistic of an agent's
 * normalised scores and `n` is the number of tasks. `counted` enters the mean: the value, the trivial baseline, or
 * nothing for a missing attempt. `normalised` is `counted` on the scale from `floor` (0) to `anchor` (1). `origin` is
 * empty for attempts that were made here. `implausible` is the distance of an implausible score from the nearest
 * reference model, in standard errors. `low` and `high` are the ends of an interval: of a pass rate (kind pass-rate), of
 * the mean of valid attempts (kind valid-mean), or of a pair of agents' difference or P(first) (kind compared).
 * `weakLimits` is empty for attempts whose limits the kernel held; `skippedChecks` for attempts that waited for a check
 * of reference models, and for data that needs none (smoke). `condition` is that of all attempts: open, sealed, no-network, or empty if it is
 * unknown.
 */
export function csv(report: Report): string {
  const rows = [
    ...ofAttempts(report, (each) => attemptRows(report, each)),
    ...report.rows.map(anchorRow),
    ...report.published.map(publishedRow),
    ...ofAttempts(report, besideRows),
    ...ofAttempts(report, builtRows),
    ...ofAttempts(report, (each) => bestRows(report, each)),
    ...ofAttempts(report, researchRows),
    ...ofAttempts(report, memorisationRows),
    ...ofAttempts(report, momentRows),
    ...summaryRows(report),
  ];
  const condition = reportCondition(report) ?? null;
  const shared = { label: report.label, note: report.note, condition };
  const lines = rows.map((row) => {
    const metric = report.metrics.find(({ name }) => name === row.metric);
    const task = report.tasks.find(({ name }) => name === row.task);
    const more = metric
      ? { unit: metric.unit, direction: metric.direction, primary: task?.primary === metric.name }
      : {};
    const all: Fields = { ...shared, ...more, ...row };
    return csvLine(columns.map((column) => all[column] ?? null));
  });
  return [csvLine(columns), ...lines].join("");
}

/** The rows of each attempt, with its origin. */
function ofAttempts({ attempts }: Report, rowsOf: (attempt: Attempt) => Fields[]): Fields[] {
  return attempts.flatMap((attempt) => {
    const origin = importedText(attempt);
    const weakLimits = weakLimitsText(attempt);
    const skippedChecks = uncheckedText(attempt);
    return rowsOf(attempt).map((row) => ({ ...row, origin, skippedChecks, weakLimits }));
  });
}

/** An attempt at a task without scorers still has its row. */
function attemptRows(report: Report, attempt: Attempt): Fields[] {
  const { task, agent, seed, submission, verdict } = attempt;
  const machineVerdict = verdict.kind === "missing" ? null : verdict.machine;
  const base: Fields = {
    kind: "attempt",
    task,
    agent,
    seed,
    submission,
    verdict: verdict.kind,
    machineVerdict,
  };
  const scores = Object.entries(attempt.scores);
  if (scores.length === 0) return [{ ...base, reason: notPassed(attempt) }];
  return scores.map(([metric, score]) => {
    const cell = report.cells.find(
      (each) => each.task === task && each.agent === agent && each.metric === metric,
    );
    const at = cell?.seeds.indexOf(seed) ?? -1;
    const counted = cell?.counted[at] ?? null;
    const scale = {
      floor: cell?.floor ?? null,
      anchor: cell?.anchor ?? null,
      normalised: cell?.normalised[at] ?? null,
      implausible: implausibleText(cell, seed),
    };
    return { ...base, metric, score: score.kind, counted, ...scale, ...scoreFields(attempt, metric) };
  });
}

/** The distance in standard errors, `yes` if both errors are 0. */
function implausibleText(cell: Cell | undefined, seed: Seed): number | "yes" | null {
  const found = cell?.implausible.find((each) => each.seed === seed);
  return found ? (found.standardErrors ?? "yes") : null;
}

function scoreFields(attempt: Attempt, metric: string): Fields {
  const score = attempt.scores[metric]!;
  switch (score.kind) {
    case "scored": {
      const { value, standardError, items } = score;
      const reason = [notPassed(attempt), attempt.note].filter((text) => text !== "").join("; ");
      return { value, standardError, items, reason };
    }
    case "rejected":
      return { reason: score.reason };
    case "not-measured":
      return { reason: score.cause };
  }
}

/** Why an attempt is not a pass: its broken and undecided strike rules, or a missing verdict; and people's decisions. */
function notPassed(attempt: Attempt): string {
  const { verdict, decisions = [] } = attempt;
  if (verdict.kind === "missing") return verdict.cause;
  const decided = decisions.map((one) => `${one.rule} decided by a person: ${decisionText(one)}`);
  const open = verdict.rules.filter((rule) => rule.answer !== "pass" && rule.severity === "strike");
  const answers = open.map(
    ({ rule, answer, evidence }) => `${rule}${answer === "fail" ? "" : ` ${answer}`}: ${evidence}`,
  );
  return [...answers, ...decided].join("; ");
}

function anchorRow({ task, metric, name, title, floor, value, standardError, rejected }: Row): Fields {
  const row = { kind: floor ? "floor" : "anchor", task, metric, row: name };
  if (rejected !== null) return { ...row, score: "rejected", reason: `${title}: ${rejected}` };
  return { ...row, value, standardError, reason: title };
}

/** An attempt's secondary measurements, by name. */
function besideRows({ task, agent, seed, submission, verdict, scores }: Attempt): Fields[] {
  const own: Fields = { kind: "beside", task, agent, seed, submission, verdict: verdict.kind };
  return Object.entries(scores).flatMap(([metric, score]) =>
    score.kind === "scored"
      ? Object.keys(score.extra)
          .sort(byText)
          .map((row) => ({ ...own, metric, row, value: score.extra[row]! }))
      : [],
  );
}

/** Of an attempt that is the best valid one of its cell. */
function bestRows(report: Report, attempt: Attempt): Fields[] {
  const { task, agent, seed, submission, verdict, scores } = attempt;
  return report.cells.flatMap((cell) => {
    if (!cell.primary || cell.task !== task || cell.agent !== agent) return [];
    const found = bestAttempt(cell, report);
    if (found?.attempt !== attempt) return [];
    const own: Fields = { kind: "best", task, agent, seed, submission, verdict: verdict.kind };
    const standardError = scoreError(scores[cell.metric]);
    return { ...own, metric: cell.metric, value: found.value, standardError, n: cell.observations };
  });
}

/** What the attempt built: numbers, and texts under `reason`. Rows that begin with `stated` are the agent's own words. */
function builtRows(attempt: Attempt): Fields[] {
  const { task, agent, seed, submission, verdict } = attempt;
  const found = builtOf(attempt);
  if (!found) return [];
  const own: Fields = { kind: "built", task, agent, seed, submission, verdict: verdict.kind };
  const texts = {
    architecture: found.architecture,
    "weights from": found.found,
    "stated base": found.base,
    "stated data": found.data,
    "stated method": found.method,
  };
  const numbers = { parameters: found.parameters, bytes: found.bytes };
  return [
    ...Object.entries(numbers).flatMap(([row, value]) => (value === null ? [] : [{ ...own, row, value }])),
    ...Object.entries(texts).flatMap(([row, reason]) => (reason === null ? [] : [{ ...own, row, reason }])),
  ];
}

/** The checkpoints before the end; the end is the attempt's own row. */
function momentRows({ task, agent, seed, verdict, moments }: Attempt): Fields[] {
  return moments.slice(0, -1).flatMap(({ moment, submission, admission, scores }) => {
    const own: Fields = { kind: "moment", task, agent, seed, verdict: verdict.kind, row: moment, submission };
    if (admission.kind === "none") return [{ ...own, score: "none" }];
    return Object.entries(scores).map(([metric, score]): Fields => {
      if (score.kind === "scored")
        return { ...own, metric, score: score.kind, value: score.value, standardError: score.standardError };
      const reason = score.kind === "rejected" ? score.reason : score.cause;
      return { ...own, metric, score: score.kind, reason };
    });
  });
}

/** An attempt's research; of its failure only the text. */
function researchRows({ task, agent, seed, submission, verdict, research }: Attempt): Fields[] {
  const own: Fields = { kind: "research", task, agent, seed, submission, verdict: verdict.kind };
  if (research === null) return [];
  if (research.kind === "not-measured") return [{ ...own, score: "not-measured", reason: research.cause }];
  const { executed, claimedOnly, metric, saidMinusMeasured, bestMinusFinal, failure } = research;
  const { distinctValid, runs, limits, benchmarkCalls: calls } = research;
  const said = metric === null ? "" : `of ${metric}`;
  return [
    { ...own, row: "executed iterations", value: executed },
    { ...own, row: "claimed only", value: claimedOnly },
    ...(distinctValid === null ? [] : [{ ...own, row: "distinct valid submissions", value: distinctValid }]),
    ...(runs === null
      ? []
      : [
          { ...own, row: "runs", value: runs.ended },
          { ...own, row: "failed runs", value: runs.failed },
          { ...own, row: "evaluations", value: runs.evaluations },
          { ...own, row: "runs out of memory", value: runs.outOfMemory },
        ]),
    ...(calls?.kind === "counted"
      ? [{ ...own, row: "benchmark calls", value: calls.calls, reason: calls.names.join(", ") }]
      : []),
    ...limits.map((limit) => ({ ...own, row: "limit reached", reason: limit })),
    ...(saidMinusMeasured === null
      ? []
      : [{ ...own, row: "said minus measured", value: saidMinusMeasured, reason: said }]),
    ...(bestMinusFinal === null
      ? []
      : [{ ...own, row: "best minus final", value: bestMinusFinal, reason: said }]),
    ...(failure === null
      ? []
      : [
          {
            ...own,
            row: "failure",
            reason: `${failure.whose}: ${failure.pattern}: ${failure.detail}`,
          },
        ]),
  ];
}

function memorisationRows({
  task,
  agent,
  seed,
  submission,
  verdict,
  memorisation: found,
}: Attempt): Fields[] {
  const own: Fields = { kind: "memorisation", task, agent, seed, submission, verdict: verdict.kind };
  if (found === undefined || found.kind === "no-private-documents") return [];
  if (found.kind === "not-measured") return [{ ...own, score: found.kind, reason: found.cause }];
  const reason = found.noted ? "possible memorisation of the private texts" : "";
  return [{ ...own, value: found.difference, standardError: found.standardError, reason }];
}

function publishedRow({ task, metric, who, value, n, note, source }: Published): Fields {
  const reason = note === "" ? source : `${note}: ${source}`;
  return { kind: "published", task, metric, row: who, value, n, reason };
}
