// Prints what `pipeline score` found: verdict, scores, and for each score its trivial baseline and reference
// models.

import type { Instance } from "@mlrb/core/plan/plan";
import { outcomeCause, unreachable } from "@mlrb/core/ports/outcome";
import { counted } from "@mlrb/core/text/counted";
import { quantity } from "@mlrb/core/text/quantity";
import type { Reading } from "@mlrb/formats/read-format";
import type { AttemptScore } from "@mlrb/formats/report/attempt";
import type { Result } from "@mlrb/local/run/result";
import type { Store } from "@mlrb/local/store/artifact-store";
import { baselineOf } from "@mlrb/report/compare/baseline-of";
import { terminalSection } from "@mlrb/report/formats/terminal-table";
import {
  parseReferences,
  parseScore,
  parseVerdict,
  type ReferenceRow,
  type Verdict,
} from "@mlrb/report/read/parse-artifacts";
import { plainText } from "@mlrb/report/read/plain-text";
import type { ReportParams } from "@mlrb/report/read/report-params";
import { undecidedCause } from "@mlrb/report/read/undecided-cause";
import { digitsText, supportedDigits, supportedText } from "@mlrb/report/sections/digits-text";
import { type Section, textCell } from "@mlrb/report/sections/table";
import type { SubmittedFolder } from "../request/submit-folder.ts";
import { printJson } from "./print.ts";
import { stdoutLook } from "./terminal.ts";

/** One instance with the text of each of its output files. */
export type Measured = { instance: Instance; texts: Record<string, string>; cause: string };

export function measuredOf(instance: Instance, result: Result | undefined, store: Store): Measured {
  const texts: Record<string, string> = {};
  for (const [name, { kind, digest }] of Object.entries(result?.outputs ?? {}))
    if (kind === "file" && /^(score|rows|verdict)$/.test(name)) texts[name] = store.textOf(digest);
  return { instance, texts, cause: result ? outcomeCause(result.outcome) : "not run" };
}

type ScoredFolder = {
  path: string;
  /** Whose submission it is; absent for a folder from a person. */
  attempt?: string;
  task: string;
  profile: string;
  params: ReportParams;
  submission: SubmittedFolder;
  measured: Measured[];
  json: boolean;
};

/** What one scorer found: the submission's score, the rows of reference models, and the trivial baseline. */
type ScorerRow = ReturnType<typeof scorerRow>;

export async function printScores(scored: ScoredFolder): Promise<void> {
  const { path, task, params, submission, measured, json } = scored;
  const verdict = measured.flatMap(({ instance, texts }) =>
    instance.stage.role !== "verdict" || texts.verdict === undefined ? [] : [parseVerdict(texts.verdict)],
  )[0];
  const scorers = [...new Set(measured.flatMap(({ instance }) => instance.axes.scorer ?? []))].map(String);
  const open = verdict?.kind === "ok" ? undecidedCause(verdict.value.rules) : undefined;
  const rows = scorers.map((scorer) => scorerRow(scorer, scored, open));
  if (json) {
    const { digest, files, bytes, leftOut } = submission;
    printJson({ event: "submission", task, path, digest, files, bytes, leftOut });
    printJson({ event: "verdict", ...(verdict?.kind === "ok" ? verdict.value : { kind: "not measured" }) });
    for (const { scorer, metric, score, references, baseline } of rows) {
      const { unit, direction } = metric;
      const found = score.kind === "ok" ? score.value : { kind: "not measured", cause: score.cause };
      printJson({
        event: "score",
        scorer,
        unit,
        direction,
        ...found,
        baseline,
        references: measuredRows(references),
      });
    }
    return;
  }
  const scores = scoresSection(rows, (metric) => params.referenceRow(task, metric));
  for (const section of [verdictSection(scored, verdict), scores])
    process.stdout.write(`\n${terminalSection(section, stdoutLook())}`);
}

/** `open`: why the submission's settings are undecided, if they are. */
function scorerRow(scorer: string, { task, params, measured }: ScoredFolder, open: string | undefined) {
  const of = (role: string) =>
    measured.find(({ instance }) => instance.axes.scorer === scorer && instance.stage.role === role);
  const metric = params.metric(scorer);
  const scored = of("score");
  const score: Reading<AttemptScore> =
    scored?.texts.score === undefined
      ? { kind: "unreadable", cause: open ?? (scored?.cause || "not planned") }
      : parseScore(scored.texts.score, metric);
  const given = of("references");
  const references: Reading<ReferenceRow[]> =
    given?.texts.rows === undefined
      ? { kind: "unreadable", cause: given?.cause || "not planned" }
      : parseReferences(given.texts.rows, scorer);
  return {
    scorer,
    metric,
    score,
    references,
    baseline: baselineOf(params.baseline(task, scorer), references),
  };
}

function measuredRows(references: Reading<ReferenceRow[]>): ReferenceRow[] {
  return references.kind === "ok" ? references.value : [];
}

/** `referenceOf` names the reference model of a metric. */
function scoresSection(rows: ScorerRow[], referenceOf: (metric: string) => string | null): Section {
  return {
    heading: "Scores",
    caption:
      "Standard errors over items. The trivial baseline is what guessing or doing nothing scores, the reference model what a known model scores; the other rows are for comparison.",
    tables: [
      {
        title: "",
        columns: ["", "value", "standard error"].map((head, at) => ({ head, rigid: at > 0 })),
        groups: rows.map((row) => ({
          name: row.metric.name,
          title: `${row.metric.title} (${row.metric.unit}) ${row.metric.direction === "higher" ? "↑" : "↓"}`,
          rows: tableRows(row, referenceOf(row.metric.name)),
        })),
      },
    ],
    items: rows.flatMap(scoreNotes),
  };
}

function tableRows({ metric, score, references, baseline }: ScorerRow, reference: string | null) {
  const row = (name: string, value: number | undefined, error: number | null | undefined, note = "") => {
    const texts =
      value === undefined ? { value: note, error: "" } : numberTexts(value, error ?? null, metric);
    return [textCell(plainText(name)), textCell(texts.value), textCell(texts.error)];
  };
  const own = score.kind === "ok" && score.value.kind === "scored" ? score.value : undefined;
  const why = score.kind === "ok" && score.value.kind === "rejected" ? "rejected" : "not measured";
  return [
    row("this submission", own?.value, own?.standardError, why),
    ...(baseline.kind === "known" && baseline.name === null
      ? [row("trivial baseline", baseline.value, null)]
      : []),
    ...measuredRows(references).map(({ name, value, standardError }) =>
      row(
        rowName(name, { baseline: baseline.name, reference }),
        value ?? undefined,
        standardError,
        "rejected",
      ),
    ),
  ];
}

/** Bytes and huge numbers name their unit, as it is another one than the table's. */
function numberTexts(
  value: number,
  error: number | null,
  { digits, unit }: Pick<ScorerRow["metric"], "digits" | "unit">,
): { value: string; error: string } {
  const scaled = quantity(value, error, unit);
  if (scaled.unit !== unit) {
    const text = (number: string | null) => (number === null ? "" : `${number} ${scaled.unit}`);
    return { value: text(scaled.value), error: text(scaled.error) };
  }
  return {
    value: supportedText(value, digits, error),
    error: error === null ? "" : digitsText(error, supportedDigits(digits, error), value),
  };
}

/** Why there is no number; empty where there is one. */
function scoreNote(score: Reading<AttemptScore>): string[] {
  if (score.kind === "unreadable") return [`not measured: ${score.cause}`];
  switch (score.value.kind) {
    case "scored":
      return [];
    case "rejected":
      return [`rejected: ${score.value.reason}`];
    case "not-measured":
      return [`not measured: ${score.value.cause}`];
    default:
      return unreachable(score.value);
  }
}

function scoreNotes({ metric, score, references, baseline }: ScorerRow): { head: string; text: string }[] {
  const texts = [
    ...scoreNote(score),
    ...measuredRows(references).flatMap(({ name, rejected }) =>
      rejected === null ? [] : [`the row ${name} is rejected: ${rejected}`],
    ),
    ...(baseline.kind === "unavailable" && baseline.name !== null ? [baseline.why] : []),
  ];
  return texts.map((text) => ({ head: metric.name, text: plainText(text) }));
}

function rowName(name: string, named: { baseline: string | null; reference: string | null }): string {
  if (name === named.reference) return `${name} (reference model)`;
  return name === named.baseline ? `${name} (trivial baseline)` : name;
}

function verdictSection(
  { path, attempt, task, profile, submission }: ScoredFolder,
  verdict: Reading<Verdict> | undefined,
): Section {
  const { digest, files, bytes, leftOut } = submission;
  const kind = verdict?.kind === "ok" ? verdict.value.kind : "not measured";
  const rules = verdict?.kind === "ok" ? verdict.value.rules : [];
  const unmeasured =
    attempt === undefined
      ? "There was no attempt, so rules on time and trajectory are not measured."
      : "Only the files were read, so rules on time and trajectory are not measured here.";
  return {
    heading: `${attempt === undefined ? plainText(path) : `A copy of the submission of ${attempt}`} as a submission to ${task} (${profile}): ${kind}`,
    caption: `${counted(files, "file")}, ${counted(bytes, "byte")}, ${digest.slice(0, 10)}. ${unmeasured}`,
    tables: [],
    items: [
      ...leftOut
        .slice(0, 20)
        .map((one) => ({ head: "left out", text: plainText(`${one.path}: ${one.why}`) })),
      ...rules.map((rule) => ({
        head: rule.rule,
        text: plainText(`${rule.answer} (${rule.severity}): ${rule.evidence}`),
      })),
    ],
  };
}
