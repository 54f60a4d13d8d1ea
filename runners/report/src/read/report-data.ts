// From a run's artifacts to the report as data. Pure: the texts of artifacts come through `read`, there is no
// clock, locale or disk, and the order of the members does not matter.

import type { Items } from "@mlrb/core/statistics/items";
import type { Calibration } from "@mlrb/formats/judged/calibration";
import type { Reading } from "@mlrb/formats/read-format";
import { type Published, type Report, reportFormat } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { ReportHardware } from "@mlrb/formats/report/hardware";
import type { Collected } from "@mlrb/formats/stage/collected";
import { agentComparisons } from "../compare/agent-comparisons.ts";
import { baselineOf, referenceOf } from "../compare/baseline-of.ts";
import { bestOf } from "../compare/best-of.ts";
import { cell } from "../compare/cell.ts";
import { comparisons, itemsOf } from "../compare/comparisons.ts";
import { withoutFewPeople } from "../compare/few-people.ts";
import { ladder } from "../compare/ladder.ts";
import { metricScale } from "../compare/metric-scale.ts";
import { overTasks } from "../compare/over-tasks.ts";
import { referenceChecks } from "../compare/reference-checks.ts";
import { rows } from "../compare/rows.ts";
import { sensitivity } from "../compare/sensitivity.ts";
import { together } from "../compare/together.ts";
import { isAuthored } from "./condition-words.ts";
import { coverage } from "./coverage.ts";
import { byText } from "./order.ts";
import { plainText } from "./plain-text.ts";
import type { ReadSamples, ReadText } from "./read-artifact.ts";
import { type Evidence, readEvidence } from "./read-evidence.ts";
import type { ReportParams } from "./report-params.ts";
import { reportParams } from "./report-params.ts";

export const smokeNote = "Smoke test on toy data. Do not cite these numbers.";

const authoredNote =
  "People wrote the recordings that these attempts replay: no model was called, and times and dollars are authored.";

function noteOf(label: string, attempts: Attempt[]): string {
  return [
    ...(isAuthored({ attempts }) ? [authoredNote] : []),
    ...(label === "smoke" ? [smokeNote] : []),
  ].join(" ");
}

type ReportInputs = { params: Record<string, unknown>; read: ReadText; readSamples?: ReadSamples };

/**
 * The report of a run. `params` are those of the report stage; wrong ones throw, because they are the
 * pipeline's mistake. Unreadable artifacts never throw: they are "not measured", with the cause.
 */
export function reportData(collected: Collected, { params, read, readSamples = read }: ReportInputs): Report {
  const known = reportParams(params);
  const evidence = readEvidence(collected, known.metric, {
    read,
    readSamples,
    familyOf: (agent) => known.family(agent),
  });
  const { attempts, calibration } = evidence;
  const report: Report = {
    formatVersion: reportFormat,
    title: plainText(known.title),
    label: plainText(known.label),
    smoke: known.label === "smoke",
    note: noteOf(known.label, attempts),
    tasks: evidence.tasks.map(({ name }) => taskOf(name, known)),
    agents: evidence.agents.map((name) => agentOf(name, known)),
    metrics: [...new Set(evidence.tasks.flatMap(({ scorers }) => scorers))].sort(byText).map(known.metric),
    coverage: coverage(attempts, { agents: evidence.agents, gaps: evidence.gaps, seeded: known.seeded }),
    attempts,
    cells: [],
    rows: [],
    referenceChecks: [],
    published: [],
    acrossTasks: { kind: null, ranked: [], tasks: [], leftOut: [], agents: [] },
    sensitivity: [],
    ...(evidence.memorisation && { memorisation: evidence.memorisation }),
    ...(evidence.judged && { judged: evidence.judged }),
    ...(calibration && { hardware: hardware(calibration, known) }),
    comparisons: [],
    agentComparisons: [],
  };
  for (const { name: task, scorers } of evidence.tasks) {
    const ofTask = attempts.filter((attempt) => attempt.task === task);
    const byAgent = [...Map.groupBy(ofTask, (attempt) => attempt.agent).values()];
    const primary = known.primary(task);
    const primaryFirst = [...scorers].sort((a, b) => Number(b === primary) - Number(a === primary));
    for (const scorer of primaryFirst) {
      const metric = known.metric(scorer);
      const references = evidence.references(task, scorer);
      const baseline = baselineOf(known.baseline(task, scorer), references);
      const reference = referenceOf(known.referenceRow(task, scorer), references);
      const measured = references.kind === "ok" ? references.value : [];
      const scale = metricScale(metric, { baseline, reference, rows: measured });
      const items = sharedItems(scorer, evidence);
      const members = byAgent.map((each) => each.map((attempt) => ({ attempt, items: items(attempt) })));
      const cells = members.map((each) =>
        cell(each, {
          ...{ metric, primary: scorer === primary, baseline, reference, scale, rows: measured },
          seeded: known.seeded(each[0]!.attempt.agent),
          isPerson: known.agentFacts(each[0]!.attempt.agent)?.kind === "person",
        }),
      );
      report.cells.push(...cells);
      report.rows.push(...rows(cells, { task, metric, references, baseline, reference }));
      const expected = known.expected(task, scorer);
      report.referenceChecks!.push(...referenceChecks(expected, { task, metric, references, baseline }));
      report.published.push(...publishedValues(known, { task, metric: scorer }));
      report.comparisons.push(...comparisons(members, metric));
    }
  }
  if (report.referenceChecks!.length === 0) delete report.referenceChecks;
  // a level is no further task: what is over tasks is over whole ones
  const tasks = report.tasks.filter(({ name }) => known.isWhole(name));
  const compared = withoutFewPeople(report);
  const agents = compared.agents.map(({ name }) => name);
  report.comparisons = compared.comparisons;
  report.acrossTasks = overTasks(compared.cells, { tasks, agents });
  report.sensitivity = sensitivity(report.cells, attempts);
  const ofWhole = compared.cells.filter(({ task }) => known.isWhole(task));
  report.agentComparisons = agentComparisons(ofWhole, {
    agents,
    attempts,
    seeded: known.seeded,
    scaled: report.acrossTasks.tasks.map(({ task }) => task),
  });
  const tested = withoutFewPeople(report);
  const found = ladder(tested, { levels: known.levels, margin: known.equalMargin });
  if (found) report.ladder = found;
  const best = bestOf(tested, { ...known, devValue: evidence.devValue });
  if (best) report.bestOf = best;
  if (known.together) report.together = together(report, known.together);
  return report;
}

/** The items of one attempt after the other, all of the same test. */
function sharedItems(scorer: string, { samples }: Evidence): (attempt: Attempt) => Reading<Items> {
  let like: Items | undefined;
  return (attempt) => {
    const items = itemsOf(attempt, scorer, { samples, like });
    if (items.kind === "ok") like = items.value;
    return items;
  };
}

function taskOf(name: string, known: ReportParams): Report["tasks"][number] {
  const rules = known.ruleCounts(name);
  const title = plainText(known.taskTitle(name));
  return { name, title, primary: known.primary(name), ...(rules && { rules }) };
}

function agentOf(name: string, known: ReportParams): Report["agents"][number] {
  const preset = known.agentFacts(name);
  return { name, title: plainText(known.agentTitle(name)), ...(preset && { preset }) };
}

function hardware(
  { device, tokensPerSecond, bytesPerSecond }: Calibration,
  { referenceTokensPerSecond }: ReportParams,
): ReportHardware {
  return { device, tokensPerSecond, bytesPerSecond, referenceTokensPerSecond };
}

/**
 * Values that others published for a metric. They were measured on official data; next to a number from other data
 * they would look comparable. Empty unless the report's label is `official`.
 */
function publishedValues(
  { label, published }: Pick<ReportParams, "label" | "published">,
  { task, metric }: { task: string; metric: string },
): Published[] {
  if (label !== "official") return [];
  return published(task, metric).map(({ who, value, n, note, source }) => ({
    task,
    metric,
    who: plainText(who),
    value,
    n: n ?? null,
    note: plainText(note ?? ""),
    source: plainText(source),
  }));
}
