// `pipeline report --against WHAT`: what differs between the last results and earlier ones, cell by cell, and why.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan } from "@mlrb/core/plan/plan";
import type { Workspace } from "@mlrb/local/store/workspace";
import { type ReportChanges, reportChanges } from "@mlrb/report/against/cell-change";
import { changesSection } from "@mlrb/report/against/changes-section";
import { rescored } from "@mlrb/report/against/rescored";
import type { Sides } from "@mlrb/report/against/score-change";
import { markdownSection } from "@mlrb/report/formats/markdown";
import { terminalSection } from "@mlrb/report/formats/terminal-table";
import { answerChanges } from "@mlrb/report/judged/answer-changes";
import { plainSection } from "@mlrb/report/sections/sections";
import { refused } from "../request/refuse.ts";
import { printJson } from "../show/print.ts";
import { readReportText } from "../show/read-report.ts";
import { stdoutLook } from "../show/terminal.ts";
import { openAgainst } from "./open-against.ts";
import { scoreEvidence } from "./score-evidence.ts";

type Compared = {
  plan: Plan;
  workspace: Workspace;
  /** The published results. */
  folder: string;
  /** As typed. */
  against: string;
  options: { json: boolean; markdown: boolean };
  /** The command that makes the results. */
  run: string;
  /** Whether the results are up to date, in lines. */
  age: string[];
};

/** Prints the comparison. Returns 0, or 2 after a request that cannot be answered. */
export function reportAgainst({ plan, workspace, folder, against, options, run, age }: Compared): number {
  const path = join(folder, "report.json");
  if (!existsSync(path)) return refused(`no-report: there is no ${path}`, run);
  const reading = readReportText(readFileSync(path, "utf8"));
  if (reading.kind !== "ok") return refused(`no-report: ${path}: ${reading.cause}`, run);
  const earlier = openAgainst(against, { plan, workspace });
  if ("problem" in earlier) return refused(earlier.problem, earlier.help);
  const sides = { old: earlier.report, now: reading.value };
  const keyOf = { old: earlier.keyOf, now: (stage: string) => workspace.last.get(stage)?.key };
  const changes = reportChanges(sides, scoreEvidence({ plan, workspace, sides, keyOf }));
  const { name } = earlier;
  if (options.json) {
    printChanges(changes, { plan, against: name, sides });
    return 0;
  }
  const section = plainSection(changesSection(changes, { name, sides }));
  const text = options.markdown
    ? markdownSection(section)
    : ["", terminalSection(section, stdoutLook()), ...age, ""].join("\n");
  process.stdout.write(text);
  return 0;
}

/** A line for each cell, then for each score that differs, then the summary. */
function printChanges(
  { cells, scores }: ReportChanges,
  { plan, against, sides }: { plan: Plan; against: string; sides: Sides },
): void {
  for (const { kind, ...cell } of cells) printJson({ event: "cell", change: kind, ...cell });
  for (const { kind, ...score } of scores)
    if (kind !== "equal") printJson({ event: "score", change: kind, ...score });
  for (const change of answerChanges(sides)) printJson({ event: "answer", ...change });
  const count = (kind: string) => cells.filter((cell) => cell.kind === kind).length;
  const again = rescored(scores, sides);
  printJson({
    event: "against",
    ...{ against, pipeline: plan.pipeline, profile: plan.profile, selection: plan.selection },
    cells: Object.fromEntries(["changed", "added", "removed", "equal"].map((kind) => [kind, count(kind)])),
    rescored: again ?? null,
  });
}
