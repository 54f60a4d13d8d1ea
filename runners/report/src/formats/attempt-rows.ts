// Rows of CSV files that are about single attempts: attempts.csv, scores.csv and checkpoints.csv.
import type { Report } from "@mlrb/formats/report";
import type { Attempt, AttemptScore } from "@mlrb/formats/report/attempt";
import type { ResultRow } from "@mlrb/formats/report/result-tables";
import { bestAttempt } from "../paper/best-attempts.ts";
import { builtOf } from "../paper/built-section.ts";
import { interventionText } from "../read/attempt-marks.ts";
import { decisionText } from "../read/decisions.ts";
import { headOf, madeColumns, metricColumns, textOrNull } from "./row-parts.ts";

export function attemptRows(report: Report): ResultRow<"attempts">[] {
  return report.attempts.map((attempt) => {
    const { task, agent, seed, verdict, note, gpus, resumed } = attempt;
    return {
      ...headOf(report),
      ...{ task, agent, seed },
      ...madeColumns(attempt),
      machine_verdict: verdict.kind === "missing" ? null : verdict.machine,
      reason: textOrNull(notPassed(attempt)),
      note: textOrNull(note),
      gpus: gpus ?? null,
      resumed: resumed ?? 0,
      interventions: textOrNull(interventionText(attempt)),
      ...builtColumns(attempt),
      ...researchColumns(attempt),
      ...memorisationColumns(attempt),
      ...overlapColumns(attempt),
    };
  });
}

/** Why an attempt is not a pass: its broken and undecided disqualifying rules, or a missing verdict; and people's decisions. */
function notPassed(attempt: Attempt): string {
  const { verdict, decisions = [] } = attempt;
  if (verdict.kind === "missing") return verdict.cause;
  const decided = decisions.map((one) => `${one.rule} decided by a person: ${decisionText(one)}`);
  const open = verdict.rules.filter((rule) => rule.answer !== "pass" && rule.severity === "disqualify");
  const answers = open.map(
    ({ rule, answer, evidence }) => `${rule}${answer === "fail" ? "" : ` ${answer}`}: ${evidence}`,
  );
  return [...answers, ...decided].join("; ");
}

function builtColumns(attempt: Attempt) {
  const found = builtOf(attempt);
  return {
    parameters: found?.parameters ?? null,
    bytes: found?.bytes ?? null,
    architecture: found?.architecture ?? null,
    weights_from: found?.found ?? null,
    stated_base: found?.base ?? null,
    stated_data: found?.data ?? null,
    stated_method: found?.method ?? null,
  };
}

/** All columns are empty if the pipeline does not find iterations. */
function researchColumns({ research }: Attempt) {
  const found = research?.kind === "found" ? research : undefined;
  const calls = found?.benchmarkCalls?.kind === "counted" ? found.benchmarkCalls : undefined;
  return {
    research_reason: research?.kind === "not-measured" ? research.cause : null,
    executed_iterations: found?.executed ?? null,
    distinct_valid_submissions: found?.distinctValid ?? null,
    runs: found?.runs?.ended ?? null,
    failed_runs: found?.runs?.failed ?? null,
    measured_runs: found?.runs?.measured ?? null,
    benchmark_calls: calls?.calls ?? null,
    benchmark_names: textOrNull(calls?.names.join(", ") ?? ""),
    limits_reached: textOrNull(found?.limits.join("; ") ?? ""),
    stated_metric: found?.metric ?? null,
    ended_by: textOrNull(found?.ends?.map(({ detail }) => detail).join("; ") ?? ""),
  };
}

function memorisationColumns({ memorisation: found }: Attempt) {
  const compared = found?.kind === "compared" ? found : undefined;
  return {
    memorisation: compared?.difference ?? null,
    memorisation_se: compared?.standardError ?? null,
    memorisation_noted: compared?.noted ?? null,
    memorisation_reason: found?.kind === "not-measured" ? found.cause : null,
  };
}

function overlapColumns({ overlap: found }: Attempt) {
  const measured = found?.kind === "measured" ? found : undefined;
  return {
    overlap_rows: measured?.rows.found ?? null,
    overlap_touched: measured?.rows.touched ?? null,
    overlap_tested: measured?.rows.tested ?? null,
    overlap_unread: measured ? measured.unread.length + measured.unreadMore : null,
    overlap_reason: found?.kind === "not-measured" ? found.cause : null,
  };
}

/** None of an attempt at a task without scorers. */
export function scoreRows(report: Report): ResultRow<"scores">[] {
  const best = new Map(
    report.cells.map((cell) => [cell, cell.primary ? bestAttempt(cell, report) : undefined]),
  );
  return report.attempts.flatMap((attempt) =>
    Object.entries(attempt.scores).map(([metric, score]) => {
      const { task, agent, seed, verdict } = attempt;
      const cell = report.cells.find(
        (each) => each.task === task && each.agent === agent && each.metric === metric,
      );
      const at = cell?.seeds.indexOf(seed) ?? -1;
      const implausible = cell?.implausible.find((each) => each.seed === seed);
      return {
        ...headOf(report),
        ...{ task, agent, seed },
        ...metricColumns(report, task, metric),
        score: score.kind,
        ...valueColumns(score),
        items: score.kind === "scored" ? score.items : null,
        counted: cell?.counted[at] ?? null,
        baseline: cell?.baseline ?? null,
        reference: cell?.reference ?? null,
        normalised: cell?.normalised[at] ?? null,
        implausible: implausible !== undefined,
        implausible_by: implausible?.standardErrors ?? null,
        best: cell !== undefined && best.get(cell)?.attempt === attempt,
        ...madeColumns(attempt),
        machine_verdict: verdict.kind === "missing" ? null : verdict.machine,
        reason: textOrNull(scoreReason(attempt, score)),
      };
    }),
  );
}

function scoreReason(attempt: Attempt, score: AttemptScore): string {
  if (score.kind !== "scored") return whyNoValue(score)!;
  return [notPassed(attempt), attempt.note].filter((text) => text !== "").join("; ");
}

type AnyScore = AttemptScore | Attempt["checkpoints"][number]["scores"][string];

function valueColumns(score: AnyScore) {
  const scored = score.kind === "scored" ? score : undefined;
  return { value: scored?.value ?? null, standard_error: scored?.standardError ?? null };
}

function whyNoValue(score: AnyScore): string | null {
  if (score.kind === "scored") return null;
  return score.kind === "rejected" ? score.reason : score.cause;
}

/** The checkpoints before the end; the end is in scores.csv. */
export function checkpointRows(report: Report): ResultRow<"checkpoints">[] {
  return report.attempts.flatMap((attempt) =>
    attempt.checkpoints
      .slice(0, -1)
      .flatMap(({ checkpoint, share, submission, admission, scores }): ResultRow<"checkpoints">[] => {
        const { task, agent, seed } = attempt;
        const own = { ...headOf(report), task, agent, seed, checkpoint, share };
        const made = { ...madeColumns(attempt), submission };
        if (admission.kind === "none") return [{ ...own, ...noMetric, ...made, reason: null }];
        return Object.entries(scores).map(([metric, score]) => ({
          ...own,
          ...metricColumns(report, task, metric),
          score: score.kind,
          ...valueColumns(score),
          ...made,
          reason: whyNoValue(score),
        }));
      }),
  );
}

const noMetric = {
  ...{ metric: null, primary: null, unit: null, direction: null },
  score: "none" as const,
  ...{ value: null, standard_error: null },
};
