// Rows of CSV files that rest on several attempts: cells, and pairs of agents.
import type { Report } from "@mlrb/formats/report";
import type { AgentComparison } from "@mlrb/formats/report/agent-comparison";
import type { Cell } from "@mlrb/formats/report/cell";
import type { ResultRow } from "@mlrb/formats/report/result-tables";
import { headOf, metricColumns, originOf } from "./row-parts.ts";

/** Both ends of an interval that is withheld. */
const noEnds = [null, null] as const;

const ofCell =
  ({ task, agent }: Pick<Cell, "task" | "agent">) =>
  (one: { task: string; agent: string }) =>
    one.task === task && one.agent === agent;

export function summaryRows(report: Report): ResultRow<"summary">[] {
  return report.cells.map((cell) => {
    const [validLow, validHigh] = cell.validInterval ?? noEnds;
    const [passLow, passHigh] = cell.passInterval ?? noEnds;
    return {
      ...headOf(report),
      ...{ task: cell.task, agent: cell.agent },
      ...metricColumns(report, cell.task, cell.metric),
      mean: cell.mean,
      mean_reason: cell.meanWithheld,
      n: cell.measured,
      planned: cell.planned,
      valid_mean: cell.validMean,
      valid_n: cell.validN,
      valid_ci_low: validLow,
      valid_ci_high: validHigh,
      valid_ci_reason: cell.validIntervalWithheld,
      pass_rate: cell.measured === 0 ? null : cell.validN / cell.measured,
      pass_ci_low: passLow,
      pass_ci_high: passHigh,
      disqualified: cell.disqualified,
      rejected: cell.rejected,
      undecided: cell.undecided,
      below_baseline: cell.belowBaseline,
      observations: cell.observations,
      sd_attempts: cell.errors.betweenAttempts,
      se_items: cell.errors.overItems,
      se_items_kind: cell.errors.overItemsIs,
      baseline: cell.baseline,
      reference: cell.reference,
      baseline_name: cell.baselineName,
      reference_name: cell.referenceName,
      reference_kind: cell.referenceKind,
      normalised_mean: cell.normalisedMean,
      normalised_reason: cell.normalisedWithheld,
      origin: originOf(report, ofCell(cell)),
    };
  });
}

export function comparisonRows(report: Report): ResultRow<"comparisons">[] {
  return report.agentComparisons.map((each) => {
    const [agent_a, agent_b] = each.agents;
    return {
      ...headOf(report),
      ...{ agent_a, agent_b },
      ...differenceColumns(each),
      ...overallColumns(each),
      origin: originOf(report, ({ agent }) => each.agents.includes(agent)),
    };
  });
}

function differenceColumns({ difference }: AgentComparison) {
  if (difference.kind === "none") {
    const nothing = { difference: null, ci_low: null, ci_high: null, difference_tasks: null };
    return { ...nothing, difference_reason: difference.why };
  }
  const [ci_low, ci_high] = difference.interval ?? noEnds;
  return {
    ...{ difference: difference.value, ci_low, ci_high },
    difference_tasks: difference.tasks.length,
    difference_reason: difference.withheld,
  };
}

function overallColumns({ overall }: AgentComparison) {
  const found = overall.kind === "tested" ? overall : undefined;
  const [low, high] = found?.interval ?? noEnds;
  return {
    superiority: found?.statistic ?? null,
    ...{ superiority_ci_low: low, superiority_ci_high: high },
    ...{ p: found?.p ?? null, p_min: found?.pMin ?? null, tasks: found?.tasks ?? null },
  };
}
