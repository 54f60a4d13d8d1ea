// report.json: the report as data, which every renderer reads. A missing number is null with a reason next to it,
// never NaN or 0.

import { direction } from "./judged/score.ts";
import { acrossTasks } from "./report/across-tasks.ts";
import { agentComparison } from "./report/agent-comparison.ts";
import { attempt } from "./report/attempt.ts";
import { bestOf } from "./report/best-of.ts";
import { cell } from "./report/cell.ts";
import { comparison } from "./report/comparison.ts";
import { reportHardware } from "./report/hardware.ts";
import { reportJudged } from "./report/judged.ts";
import { ladder } from "./report/ladder.ts";
import { reportMemorisation } from "./report/memorisation.ts";
import { referenceCheck } from "./report/reference-check.ts";
import { row } from "./report/row.ts";
import { sensitivity } from "./report/sensitivity.ts";
import { together } from "./report/together.ts";
import * as t from "./schema.ts";

export const reportFormat = 1;

export const metric = t.about(
  t.wholeObject({
    name: t.anyText,
    title: t.anyText,
    unit: t.anyText,
    direction,
    digits: t.count,
    range: t.about(
      t.nullable(t.pairOf(t.number, t.numberOrNull)),
      "its minimum and maximum, null for no maximum; null if scorer.yaml has no range",
    ),
  }),
  "a metric is a scorer's value and has the scorer's name",
);
export type Metric = t.TypeOf<typeof metric>;

const ruleCounts = t.about(
  t.wholeObject({ disqualifying: t.count, notes: t.count }),
  "rules of the task on this data by severity; absent where the report stage has none",
);

const agentFacts = t.about(
  t.wholeObject({
    kind: t.anyText,
    models: t.about(t.listOf(t.anyText), "the models that it may call, each with its provider"),
    planner: t.about(t.textOrNull, "the model that writes the plan, if it is another one"),
    scaffold: t.textOrNull,
    turnsMax: t.about(t.numberOrNull, "maximum number of model calls; null: no limit"),
  }),
  "from its preset; absent where the report stage has none",
);
export type AgentFacts = t.TypeOf<typeof agentFacts>;

const agentCoverage = t.wholeObject({
  agent: t.anyText,
  planned: t.count,
  pass: t.about(t.count, "attempts that kept the rules, among those with a verdict"),
  undecided: t.about(t.count, "attempts with an undecided disqualifying rule: neither kept nor broken"),
  judged: t.count,
  passInterval: t.about(
    t.nullable(t.pairOf(t.number)),
    "Wilson's 95 % interval of pass / judged; null if none was judged or some are repeats",
  ),
});
export type AgentCoverage = t.TypeOf<typeof agentCoverage>;

const coverage = t.wholeObject({
  attempts: t.wholeObject({
    planned: t.count,
    pass: t.count,
    disqualified: t.count,
    rejected: t.count,
    undecided: t.count,
    missing: t.count,
  }),
  scores: t.wholeObject({ planned: t.count, scored: t.count, rejected: t.count, notMeasured: t.count }),
  agents: t.listOf(agentCoverage),
  gaps: t.about(
    t.listOf(t.wholeObject({ stage: t.anyText, outcome: t.anyText, cause: t.anyText })),
    "planned work without a readable result, and why",
  ),
});
export type Coverage = t.TypeOf<typeof coverage>;

const published = t.wholeObject({
  task: t.anyText,
  metric: t.anyText,
  who: t.anyText,
  value: t.number,
  n: t.about(t.numberOrNull, "number of runs; null if the source gives none"),
  note: t.about(t.anyText, "how it was made from those runs; may be empty"),
  source: t.anyText,
});
export type Published = t.TypeOf<typeof published>;

export const report = t.fileFormat(
  "mlrb report",
  t.wholeExcept(["referenceChecks", "memorisation", "judged", "hardware", "ladder", "bestOf", "together"], {
    formatVersion: { const: reportFormat },
    title: t.anyText,
    label: t.about(t.anyText, "the data behind the numbers, e.g. smoke or official"),
    smoke: t.flag,
    note: t.about(t.anyText, "the warning on smoke numbers; empty otherwise"),
    tasks: t.listOf(
      t.wholeExcept(["rules"], {
        name: t.anyText,
        title: t.anyText,
        primary: t.textOrNull,
        rules: ruleCounts,
      }),
    ),
    agents: t.listOf(t.wholeExcept(["preset"], { name: t.anyText, title: t.anyText, preset: agentFacts })),
    metrics: t.listOf(metric),
    coverage,
    attempts: t.about(t.listOf(attempt), "one for each planned task, agent and seed"),
    cells: t.about(t.listOf(cell), "one for each task, agent and metric"),
    rows: t.about(t.listOf(row), "trivial baselines and reference models, one for each task, metric and row"),
    referenceChecks: t.about(
      t.listOf(referenceCheck),
      "what is expected of reference models before attempts start; absent where task.yaml expects nothing",
    ),
    published: t.about(
      t.listOf(published),
      "published values on the same data, by task and metric; empty unless the data is official",
    ),
    acrossTasks,
    sensitivity: t.about(
      t.listOf(sensitivity),
      "primary means if undecided attempts or people's decisions counted in another way",
    ),
    memorisation: reportMemorisation,
    judged: reportJudged,
    hardware: reportHardware,
    comparisons: t.about(
      t.listOf(comparison),
      "the agents' submissions on the same items: one for each task, metric and pair of agents",
    ),
    together: t.about(together, "absent where the pipeline names no arms"),
    bestOf: t.about(bestOf, "absent where the pipeline asks for none"),
    ladder: t.about(ladder, "absent without levels of difficulty"),
    agentComparisons: t.about(
      t.listOf(agentComparison),
      "the agents over all tasks, with attempts as the unit: one for each pair of agents",
    ),
  }),
);
export type Report = t.TypeOf<typeof report>;
