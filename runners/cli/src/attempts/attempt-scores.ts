// The scores of an attempt, from the newest report of its pipeline and profile that scored the same submission.
// A report may hold another attempt with the same task, agent and seed.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { Report } from "@mlrb/formats/report";
import type { AttemptScore, MomentScore } from "@mlrb/formats/report/attempt";
import type { AttemptScores, NamedScore } from "@mlrb/report/exports/attempt-source";
import { verdictText } from "@mlrb/report/sections/report-words";
import { readReport } from "../show/read-report.ts";

type ScoredAttempt = Pick<AttemptRecord, "slot" | "axes"> & {
  submission: string | null;
  budgetMs: number | null;
};

export function attemptScores(
  results: string,
  { slot, axes, submission, budgetMs }: ScoredAttempt,
  read = readReport,
): AttemptScores | null {
  const folder = join(results, slot.pipeline);
  const paths = existsSync(folder) ? readdirSync(folder) : [];
  const reports = paths
    .filter((name) => name === slot.profile || name.startsWith(`${slot.profile}+`))
    .map((name) => join(folder, name, "report.json"))
    .filter((path) => existsSync(path))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const path of reports) {
    const reading = read(path);
    if (reading.kind !== "ok") continue; // of another version, or of another program
    const report = reading.value;
    const attempt = report.attempts.find(
      (one) =>
        one.task === axes.task && one.agent === axes.agent && String(one.seed) === String(axes.seed ?? ""),
    );
    if (!attempt || submission === null || attempt.submission !== submission) continue;
    const moments = attempt.moments.filter(({ share }) => share < 1);
    return {
      verdict: verdictText(attempt.verdict),
      primary: report.tasks.find(({ name }) => name === attempt.task)?.primary ?? null,
      final: named(report, attempt.task, attempt.scores),
      moments: moments.map(({ moment, share, scores }) => ({
        moment,
        atMs: budgetMs === null ? null : share * budgetMs,
        scores: named(report, attempt.task, scores),
      })),
    };
  }
  return null;
}

/** Reads each report once, however many attempts it holds. */
export function rememberingReports(): typeof readReport {
  const held = new Map<string, ReturnType<typeof readReport>>();
  return (path) => {
    const reading = held.get(path) ?? readReport(path);
    held.set(path, reading);
    return reading;
  };
}

function named(
  report: Report,
  task: string,
  scores: Record<string, AttemptScore | MomentScore>,
): NamedScore[] {
  return Object.entries(scores).flatMap(([name, score]): NamedScore[] => {
    const metric = report.metrics.find((one) => one.name === name);
    if (!metric) return [];
    const { unit, direction, digits } = metric;
    const row = report.rows.find((one) => one.task === task && one.metric === name && one.floor);
    const about = { name, unit, direction, digits, floor: row?.value ?? null };
    if (score.kind !== "scored") return [{ ...about, ...score }];
    const { kind, value, standardError } = score;
    // the score of an intermediate checkpoint has no item count
    return [{ ...about, kind, value, standardError, items: "items" in score ? score.items : 0 }];
  });
}
