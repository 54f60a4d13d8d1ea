// The report's sections in the order of a reader's questions: who is ahead, compared with what, how certain, what
// went wrong, what is missing.

import { counted } from "@mlrb/core/text/counted";
import type { Report } from "@mlrb/formats/report";
import { judgedSections } from "../judged/answers-sections.ts";
import { bestSection } from "../paper/best-attempts.ts";
import { builtSection } from "../paper/built-section.ts";
import { hardwareSection } from "../paper/hardware-section.ts";
import { metricsSection, setUpSection } from "../paper/set-up-section.ts";
import { withFootnotes } from "../read/attempt-marks.ts";
import { conditionLine } from "../read/condition-words.ts";
import { plainText } from "../read/plain-text.ts";
import { acrossSection } from "./across-section.ts";
import { agentsSection } from "./agents-section.ts";
import { attemptsSection } from "./attempts-section.ts";
import { bestOfSections } from "./best-of-section.ts";
import { checkpointsSection } from "./checkpoints-section.ts";
import { comparisonsSection } from "./comparisons-section.ts";
import { errorsSection } from "./errors-section.ts";
import { gapsSection } from "./gaps-section.ts";
import { ladderSections } from "./ladder-section.ts";
import { memorisationSection } from "./memorisation-section.ts";
import { overlapSection } from "./overlap-section.ts";
import { researchSection } from "./research-section.ts";
import { resultsSection } from "./results-section.ts";
import { rowsSection } from "./rows-section.ts";
import { rulesSection } from "./rules-section.ts";
import { secondarySection } from "./secondary-section.ts";
import { sensitivitySection } from "./sensitivity-section.ts";
import type { Section } from "./table.ts";
import { togetherSections } from "./together-section.ts";
import { validitySection } from "./validity-section.ts";

/** The sections that are not empty. */
export function sections(report: Report): Section[] {
  const ofAttempts = (section: Section) => aboutAttempts(section, report);
  return [
    ofAttempts(resultsSection(report)),
    ofAttempts(sensitivitySection(report)),
    ofAttempts(acrossSection(report)),
    ofAttempts(errorsSection(report)),
    ...[...ladderSections(report), ...bestOfSections(report), ...togetherSections(report)].map(ofAttempts),
    setUpSection(report),
    metricsSection(report),
    rowsSection(report),
    ofAttempts(agentsSection(report)),
    ofAttempts(comparisonsSection(report)),
    ofAttempts(attemptsSection(report)),
    ofAttempts(bestSection(report)),
    ofAttempts(builtSection(report)),
    ofAttempts(checkpointsSection(report)),
    ofAttempts(secondarySection(report)),
    ofAttempts(researchSection(report)),
    ofAttempts(rulesSection(report)),
    ofAttempts(memorisationSection(report)),
    ofAttempts(overlapSection(report)),
    ...judgedSections(report).map(ofAttempts),
    ofAttempts(validitySection(report)),
    ofAttempts(hardwareSection(report)),
    gapsSection(report),
  ]
    .filter(({ tables, items }) => items.length > 0 || tables.some((table) => table.groups.length > 0))
    .map(plainSection);
}

/** A section with numbers of attempts says how many were imported, or started without a check. */
export function aboutAttempts(section: Section, { attempts }: Pick<Report, "attempts">): Section {
  return { ...section, caption: withFootnotes(section.caption, attempts) };
}

/** Makes every text one plain line: a line break in a task's name would break a table. */
export function plainSection(section: Section): Section {
  const text = (value: string) => plainText(value, 2000);
  return {
    heading: text(section.heading),
    // a caption is this project's own, with names in it
    caption: plainText(section.caption, 5000),
    items: section.items.map(({ head, text: words }) => ({ head: text(head), text: text(words) })),
    tables: section.tables.map(({ title, columns, groups, ...table }) => ({
      ...table,
      title: text(title),
      columns: columns.map((column) => ({ ...column, head: text(column.head) })),
      groups: groups.map(({ name, title, rows }) => ({
        name: text(name),
        title: text(title),
        rows: rows.map((row) => row.map((cell) => ({ ...cell, lines: cell.lines.map(text) }))),
      })),
    })),
  };
}

/** The condition, and how many of the planned attempts and scores were measured, in one line. */
export function coverageLine(report: Report): string {
  const { attempts, scores } = report.coverage;
  if (attempts.planned === 0) return "No attempts were planned.";
  const parts = (...counts: [number, string][]) =>
    counts.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : [])).join(", ") || "none";
  const judged = parts(
    [attempts.pass, "pass"],
    [attempts.undecided, "undecided"],
    [attempts.disqualified, "disqualified"],
    [attempts.rejected, "rejected"],
    [attempts.missing, "missing"],
  );
  const measured = parts(
    [scores.scored, "scored"],
    [scores.rejected, "rejected"],
    [scores.notMeasured, "not measured"],
  );
  const condition = conditionLine(report);
  return withFootnotes(
    `${condition === "" ? "" : `${condition} `}${counted(attempts.planned, "attempt")} planned: ${judged}. ` +
      `${counted(scores.planned, "score")} planned: ${measured}.${completeBlocks(report.attempts)}`,
    report.attempts,
  );
}

/** Of a run with missing attempts: means compare agents fairly over the seeds whose attempts all ended. */
function completeBlocks(attempts: Report["attempts"]): string {
  const blocks = [...Map.groupBy(attempts, ({ seed }) => seed).values()];
  const isWhole = (block: Report["attempts"]) => block.every(({ verdict }) => verdict.kind !== "missing");
  const whole = blocks.filter(isWhole).length;
  if (whole === blocks.length) return "";
  return ` Complete blocks: ${whole} of ${blocks.length}. A block is every task and agent with one seed.`;
}
