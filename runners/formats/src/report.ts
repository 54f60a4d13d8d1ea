// report.json: the report as data, which every renderer reads. A missing number is null with a reason next to it, never
// NaN or 0.

import { direction } from "./judged/score.ts";
import { acrossTasks } from "./report/across-tasks.ts";
import { agentComparison } from "./report/agent-comparison.ts";
import { attempt } from "./report/attempt.ts";
import { cell } from "./report/cell.ts";
import { comparison } from "./report/comparison.ts";
import { reportHardware } from "./report/hardware.ts";
import { reportMemorisation } from "./report/memorisation.ts";
import { reference } from "./report/reference-check.ts";
import { row } from "./report/row.ts";
import { sensitivity } from "./report/sensitivity.ts";
import {
  anyText,
  count,
  fileFormat,
  flag,
  listOf,
  nullable,
  number,
  numberOrNull,
  pairOf,
  type TypeOf,
  textOrNull,
  wholeExcept,
  wholeObject,
} from "./schema.ts";

/**
 * 2: cells hold their two errors and why a mean or an interval is withheld; agentComparisons.
 * 3: anchors, normalised scores and published values; acrossTasks; intervals are cut to the metric's range.
 * 4: intermediate checkpoints and research of attempts.
 * 5: undecided attempts, counted apart; decisions of people; sensitivity. Intervals are of valid attempts only; values
 *    worse than the trivial baseline count as it; kinds of reference models, ranks, differences over tasks, repeated
 *    and implausible attempts.
 */
export const reportFormat = 5;

const metric = {
  ...wholeObject({
    name: anyText,
    title: anyText,
    unit: anyText,
    direction,
    digits: count,
    range: {
      ...nullable(pairOf(number, numberOrNull)),
      description: "its minimum and maximum, null for no maximum; null if scorer.yaml has no range",
    },
  }),
  description: "a metric is a scorer's value and has the scorer's name",
} as const;
export type Metric = TypeOf<typeof metric>;

const ruleCounts = {
  ...wholeObject({ strikes: count, notes: count }),
  description: "rules of the task on this data by severity; absent where the report stage has none",
} as const;

const agentFacts = {
  ...wholeObject({
    kind: anyText,
    models: { ...listOf(anyText), description: "the models that it may call, each with its provider" },
    planner: { ...textOrNull, description: "the model that writes the plan, if it is another one" },
    scaffold: textOrNull,
    turnsMax: { ...numberOrNull, description: "maximum number of model calls; null: no limit" },
  }),
  description: "from its preset; absent where the report stage has none",
} as const;
export type AgentFacts = TypeOf<typeof agentFacts>;

const agentCoverage = wholeObject({
  agent: anyText,
  planned: count,
  pass: { ...count, description: "attempts that kept the rules, among those with a verdict" },
  undecided: { ...count, description: "attempts with an undecided strike rule: neither kept nor broken" },
  judged: count,
  passInterval: {
    ...nullable(pairOf(number)),
    description: "Wilson's 95 % interval of pass / judged; null if none was judged or some are repeats",
  },
});
export type AgentCoverage = TypeOf<typeof agentCoverage>;

const coverage = wholeObject({
  attempts: wholeObject({
    planned: count,
    pass: count,
    struck: count,
    rejected: count,
    undecided: count,
    missing: count,
  }),
  scores: wholeObject({ planned: count, scored: count, rejected: count, notMeasured: count }),
  agents: listOf(agentCoverage),
  gaps: {
    ...listOf(wholeObject({ stage: anyText, outcome: anyText, cause: anyText })),
    description: "planned work without a readable result, and why",
  },
});
export type Coverage = TypeOf<typeof coverage>;

const published = wholeObject({
  task: anyText,
  metric: anyText,
  who: anyText,
  value: number,
  n: { ...numberOrNull, description: "number of runs; null if the source gives none" },
  note: { ...anyText, description: "how it was made from those runs; may be empty" },
  source: anyText,
});
export type Published = TypeOf<typeof published>;

export const report = fileFormat(
  "mlrb report",
  wholeExcept(["references", "memorisation", "hardware"], {
    formatVersion: { const: reportFormat },
    title: anyText,
    label: { ...anyText, description: "the data behind the numbers, e.g. smoke or official" },
    smoke: flag,
    note: { ...anyText, description: "the warning on smoke numbers; empty otherwise" },
    tasks: listOf(
      wholeExcept(["rules"], { name: anyText, title: anyText, primary: textOrNull, rules: ruleCounts }),
    ),
    agents: listOf(wholeExcept(["preset"], { name: anyText, title: anyText, preset: agentFacts })),
    metrics: listOf(metric),
    coverage,
    attempts: { ...listOf(attempt), description: "one for each planned task, agent and seed" },
    cells: { ...listOf(cell), description: "one for each task, agent and metric" },
    rows: {
      ...listOf(row),
      description: "trivial baselines and reference models, one for each task, metric and row",
    },
    references: {
      ...listOf(reference),
      description:
        "what is expected of reference models before attempts start; absent where task.yaml expects nothing",
    },
    published: {
      ...listOf(published),
      description: "published values on the same data, by task and metric; empty unless the data is official",
    },
    acrossTasks,
    sensitivity: {
      ...listOf(sensitivity),
      description: "primary means if undecided attempts or people's decisions counted in another way",
    },
    memorisation: reportMemorisation,
    hardware: reportHardware,
    comparisons: {
      ...listOf(comparison),
      description: "the agents' submissions on the same items: one for each task, metric and pair of agents",
    },
    agentComparisons: {
      ...listOf(agentComparison),
      description: "the agents over all tasks, with attempts as the unit: one for each pair of agents",
    },
  }),
);
export type Report = TypeOf<typeof report>;
