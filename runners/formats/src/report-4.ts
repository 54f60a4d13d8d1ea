// report.json of formatVersion 4, as far as a report of today can be made from it. Results that were published before
// stay readable.

import { uncheckedNames } from "./attempt/attempt-record.ts";
import { formerJudgement } from "./judged/verdict.ts";
import { attempt, foundResearch, missing, notMeasured } from "./report/attempt.ts";
import { cell } from "./report/cell.ts";
import { comparison } from "./report/comparison.ts";
import { row } from "./report/row.ts";
import { report } from "./report.ts";
import {
  anyText,
  fileFormat,
  kindsOf,
  listOf,
  nullable,
  openObject,
  pairOf,
  type TypeOf,
  wholeExcept,
  wholeObject,
} from "./schema.ts";

const { tasks, agents, metrics, published, title, label, smoke, note } = report.properties;
const { gaps } = report.properties.coverage.properties;

const { decisions, memorisation, gpus, resumed, interventions, ...attemptFields } = attempt.properties;

const { task, agent, metric, primary, floor, floorName, anchor, anchorName, errors, notes } = cell.properties;

const { distinctValid, runs, limits, benchmarkCalls, lastChange, ends, labels, ...counts } =
  foundResearch.properties;
const research4 = kindsOf(wholeObject(counts), notMeasured);

const cell4 = openObject(
  { task, agent, metric, primary, floor, floorName, anchor, anchorName, errors, notes },
  ["task", "agent", "metric", "primary", "floor", "floorName", "anchor", "anchorName", "errors", "notes"],
);

export const report4 = fileFormat(
  "mlrb report, formatVersion 4",
  wholeObject({
    formatVersion: { const: 4 },
    ...{ title, label, smoke, note, tasks, agents, metrics, published },
    coverage: openObject({ gaps }, ["gaps"]),
    attempts: listOf(
      wholeExcept(["condition", "budget", "origin", "weakLimits", ...uncheckedNames, "actions"], {
        ...attemptFields,
        verdict: kindsOf(wholeObject(formerJudgement), missing),
        research: nullable(research4),
      }),
    ),
    cells: listOf(cell4),
    rows: listOf({ ...wholeExcept(["kind", "parameters"], row.properties), anyOf: row.anyOf }),
    comparisons: listOf(comparison),
    agentComparisons: listOf(
      openObject({ agents: pairOf(anyText), pairs: openObject({ why: anyText }, []) }, ["agents", "pairs"]),
    ),
  }),
);
export type Report4 = TypeOf<typeof report4>;
