// The scores of an attempt, from the newest report of its pipeline and profile that scored the same submission.
// A report may hold another attempt with the same task, agent and seed.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { Report } from "@mlrb/formats/report";
import type { AttemptScore, CheckpointScore } from "@mlrb/formats/report/attempt";
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
  reports: Reports = { read: readReport, of: reportsOf },
): AttemptScores | null {
  for (const path of reports.of(results, slot)) {
    const reading = reports.read(path);
    if (reading.kind !== "ok") continue; // of another version, or of another program
    const report = reading.value;
    const attempt = report.attempts.find(
      (one) =>
        one.task === axes.task && one.agent === axes.agent && String(one.seed) === String(axes.seed ?? ""),
    );
    if (!attempt || submission === null || attempt.submission !== submission) continue;
    const checkpoints = attempt.checkpoints.filter(({ share }) => share < 1);
    return {
      verdict: verdictText(attempt.verdict),
      primary: report.tasks.find(({ name }) => name === attempt.task)?.primary ?? null,
      final: named(report, attempt.task, attempt.scores),
      checkpoints: checkpoints.map(({ checkpoint, share, scores }) => ({
        checkpoint,
        atMs: budgetMs === null ? null : share * budgetMs,
        scores: named(report, attempt.task, scores),
      })),
    };
  }
  return null;
}

type Slot = AttemptRecord["slot"];

type Reports = {
  read: typeof readReport;
  of: (results: string, slot: Slot) => string[];
};

/** Finds and reads each report once, however many attempts it holds. */
export function rememberingReports(): Reports {
  const readings = new Map<string, ReturnType<typeof readReport>>();
  const paths = new Map<string, string[]>();
  return {
    read: (path) => readings.getOrInsertComputed(path, () => readReport(path)),
    of: (results, slot) =>
      paths.getOrInsertComputed(JSON.stringify([results, slot.pipeline, slot.profile]), () =>
        reportsOf(results, slot),
      ),
  };
}

type SomeSlot = { pipeline: string; profile: string | undefined };

/** The reports of a pipeline and profile, newest first; without a profile, of all. */
export function reportsOf(results: string, { pipeline, profile }: SomeSlot): string[] {
  const folder = join(results, pipeline);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => (profile ?? name) === name || name.startsWith(`${profile}+`))
    .map((name) => join(folder, name, "report.json"))
    .filter((path) => existsSync(path))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
}

function named(
  report: Report,
  task: string,
  scores: Record<string, AttemptScore | CheckpointScore>,
): NamedScore[] {
  return Object.entries(scores).flatMap(([name, score]): NamedScore[] => {
    const metric = report.metrics.find((one) => one.name === name);
    if (!metric) return [];
    const { unit, direction, digits } = metric;
    const row = report.rows.find((one) => one.task === task && one.metric === name && one.baseline);
    const about = { name, unit, direction, digits, baseline: row?.value ?? null };
    if (score.kind !== "scored") return [{ ...about, ...score }];
    const { kind, value, standardError } = score;
    // the score of an intermediate checkpoint has no item count
    return [{ ...about, kind, value, standardError, items: "items" in score ? score.items : 0 }];
  });
}
