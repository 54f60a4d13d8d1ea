// What `pipeline score` says: verdict, scores, and beside each score its floor and anchors.

import type { Instance } from "@mlrb/core/plan/plan";
import { outcomeCause } from "@mlrb/core/ports/outcome";
import type { Reading } from "@mlrb/formats/read-format";
import type { AttemptScore } from "@mlrb/formats/report/attempt";
import type { Result } from "@mlrb/local/run/result";
import type { Store } from "@mlrb/local/store/artifact-store";
import { floorOf } from "@mlrb/report/compare/floor-of";
import { terminalSection } from "@mlrb/report/formats/terminal-table";
import {
  type AnchorRow,
  parseAnchors,
  parseScore,
  parseVerdict,
  type Verdict,
} from "@mlrb/report/read/parse-artifacts";
import { plainText } from "@mlrb/report/read/plain-text";
import type { ReportParams } from "@mlrb/report/read/report-params";
import { digitsText } from "@mlrb/report/sections/digits-text";
import { type Section, textCell } from "@mlrb/report/sections/table";
import type { SubmittedFolder } from "../request/submit-folder.ts";
import { hasColor } from "./terminal.ts";

/** One instance, with the text of each file that it gave. */
export type Measured = { instance: Instance; texts: Record<string, string>; cause: string };

export function measuredOf(instance: Instance, result: Result | undefined, store: Store): Measured {
  const texts: Record<string, string> = {};
  for (const [name, { kind, digest }] of Object.entries(result?.outputs ?? {}))
    if (kind === "file" && /^(score|rows|verdict)$/.test(name)) texts[name] = store.textOf(digest);
  return { instance, texts, cause: result ? outcomeCause(result.outcome) : "not run" };
}

type ScoredFolder = {
  path: string;
  task: string;
  profile: string;
  params: ReportParams;
  handed: SubmittedFolder;
  measured: Measured[];
  json: boolean;
};

export async function printScores(said: ScoredFolder): Promise<void> {
  const { path, task, profile, params, handed, measured, json } = said;
  const verdict = measured.flatMap(({ instance, texts }) =>
    instance.stage.role !== "verdict" || texts.verdict === undefined ? [] : [parseVerdict(texts.verdict)],
  )[0];
  const scorers = [...new Set(measured.flatMap(({ instance }) => instance.axes.scorer ?? []))].map(String);
  const rows = scorers.map((scorer) => {
    const of = (role: string) =>
      measured.find(({ instance }) => instance.axes.scorer === scorer && instance.stage.role === role);
    const metric = params.metric(scorer);
    const scored = of("score");
    const score: Reading<AttemptScore> =
      scored?.texts.score === undefined
        ? { kind: "unreadable", cause: scored?.cause || "not planned" }
        : parseScore(scored.texts.score, metric);
    const anchored = of("anchors");
    const anchors: Reading<AnchorRow[]> =
      anchored?.texts.rows === undefined
        ? { kind: "unreadable", cause: anchored?.cause || "not planned" }
        : parseAnchors(anchored.texts.rows, scorer);
    const floor = floorOf(params.floor(task, scorer), anchors);
    return { scorer, metric, score, anchors, floor };
  });
  if (json) {
    const { digest, files, bytes, leftOut } = handed;
    print({ event: "submission", task, path, digest, files, bytes, leftOut });
    print({ event: "verdict", ...(verdict?.kind === "ok" ? verdict.value : { kind: "not measured" }) });
    for (const { scorer, metric, score, anchors, floor } of rows) {
      const { unit, direction } = metric;
      const found = score.kind === "ok" ? score.value : { kind: "not measured", cause: score.cause };
      const beside = anchors.kind === "ok" ? anchors.value : [];
      print({ event: "score", scorer, unit, direction, ...found, floor, anchors: beside });
    }
    return;
  }
  const width = process.stdout.columns ?? Number(process.env.COLUMNS ?? 100);
  const color = hasColor(process.stdout);
  const show = (section: Section) => process.stdout.write(`\n${terminalSection(section, { width, color })}`);
  show(verdictSection({ path, title: `${task} (${profile})`, handed, verdict }));
  show({
    heading: "Scores",
    caption:
      "Standard errors over items. The trivial baseline is what guessing or doing nothing scores, the reference model what a known model scores; the other rows are for comparison.",
    tables: [
      {
        title: "",
        columns: ["", "value", "standard error"].map((head, at) => ({ head, rigid: at > 0 })),
        groups: rows.map(({ metric, score, anchors, floor }) => {
          const { digits } = metric;
          const row = (
            name: string,
            value: number | undefined,
            error: number | null | undefined,
            note = "",
          ) => [
            textCell(plainText(name)),
            textCell(value === undefined ? note : digitsText(value, digits)),
            textCell(error === null || error === undefined ? "" : digitsText(error, digits)),
          ];
          const mine = score.kind === "ok" && score.value.kind === "scored" ? score.value : undefined;
          const why = score.kind === "ok" ? "rejected" : "not measured";
          return {
            name: metric.name,
            title: `${metric.title} (${metric.unit}) ${metric.direction === "higher" ? "↑" : "↓"}`,
            rows: [
              row("this submission", mine?.value, mine?.standardError, why),
              ...(floor.kind === "known" && floor.name === null
                ? [row("trivial baseline", floor.value, null)]
                : []),
              ...(anchors.kind === "ok" ? anchors.value : []).map((anchor) =>
                row(
                  rowName(anchor.name, { floor: floor.name, anchor: params.anchorRow(task, metric.name) }),
                  anchor.value ?? undefined,
                  anchor.standardError,
                  "rejected",
                ),
              ),
            ],
          };
        }),
      },
    ],
    items: rows.flatMap(({ metric, score, anchors, floor }) => {
      const beside = anchors.kind === "ok" ? anchors.value : [];
      const texts = [
        ...(score.kind === "unreadable" ? [`not measured: ${score.cause}`] : []),
        ...(score.kind === "ok" && score.value.kind === "rejected"
          ? [`rejected: ${score.value.reason}`]
          : []),
        ...beside.flatMap(({ name, rejected }) =>
          rejected === null ? [] : [`the row ${name} is rejected: ${rejected}`],
        ),
        ...(floor.kind === "unavailable" && floor.name !== null ? [floor.why] : []),
      ];
      return texts.map((text) => ({ head: metric.name, text: plainText(text) }));
    }),
  });
}

function rowName(name: string, named: { floor: string | null; anchor: string | null }): string {
  if (name === named.anchor) return `${name} (reference model)`;
  return name === named.floor ? `${name} (trivial baseline)` : name;
}

function verdictSection(from: {
  path: string;
  title: string;
  handed: SubmittedFolder;
  verdict: Reading<Verdict> | undefined;
}): Section {
  const { path, title, handed, verdict } = from;
  const { digest, files, bytes, leftOut } = handed;
  const kind = verdict?.kind === "ok" ? verdict.value.kind : "not measured";
  const words = kind === "struck" ? "disqualified" : kind;
  const rules = verdict?.kind === "ok" ? verdict.value.rules : [];
  return {
    heading: `${plainText(path)} as a submission to ${title}: ${words}`,
    caption: `${files} files, ${bytes} bytes, ${digest.slice(0, 10)}. There was no attempt, so rules on time and trajectory are not measured.`,
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

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
