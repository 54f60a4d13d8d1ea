// What the pipeline says of tasks, agents and scorers: tables by name, filled in by the runner from the
// manifests. These are this repository's own, so a wrong one is a mistake in the pipeline and throws.

import { agentPreset } from "@mlrb/formats/declared/agent-preset";
import { type ScorerManifest, scorerManifest } from "@mlrb/formats/declared/scorer";
import { type PublishedValue, taskManifest } from "@mlrb/formats/declared/task";
import { mustFollow } from "@mlrb/formats/read-format";
import type { Metric } from "@mlrb/formats/report";
import { anyText, openObject, orNull, tableOf } from "@mlrb/formats/schema";

const { floors, anchorRows, published } = taskManifest.properties;
const { direction, digits, range } = scorerManifest.properties;

/** An optional field of a manifest is null where the manifest lacks it. */
const paramsFormat = openObject(
  {
    title: anyText,
    label: anyText,
    tasks: tableOf(anyText),
    primary: tableOf(anyText),
    floors: tableOf(floors.additionalProperties),
    anchorRows: tableOf(orNull(anchorRows.additionalProperties)),
    published: tableOf(orNull(published)),
    agents: tableOf(anyText),
    seeded: tableOf(orNull(agentPreset.properties.seeded)),
    scorers: tableOf(anyText),
    units: tableOf(anyText),
    directions: tableOf(direction),
    digits: tableOf(digits),
    ranges: tableOf(orNull(range)),
  },
  ["title", "label", "tasks", "primary", "floors", "agents", "scorers", "units", "directions", "digits"],
);

export type ReportParams = {
  title: string;
  label: string;
  taskTitle: (task: string) => string;
  /** The scorer that decides the task; null where the pipeline names none. */
  primary: (task: string) => string | null;
  /** A number, the name of an anchors row, or null where task.yaml gives no floor for the scorer. */
  floor: (task: string, scorer: string) => number | string | null;
  /** The name of the anchors row that is 1 where the floor is 0; null where task.yaml names none. */
  anchorRow: (task: string, scorer: string) => string | null;
  /** What others published on the data that the label names; nothing where task.yaml knows of nothing. */
  published: (task: string, scorer: string) => PublishedValue[];
  agentTitle: (agent: string) => string;
  /** Whether all of the agent's chance comes from the seed; of agents that the pipeline says nothing of, no. */
  seeded: (agent: string) => boolean;
  metric: (scorer: string) => Metric;
  /** Undefined for what is no scorer. */
  direction: (scorer: string) => ScorerManifest["direction"] | undefined;
};

/** Checks `params` of the report stage. Throws with the parameter's name and what it should be. */
export function reportParams(params: Record<string, unknown>): ReportParams {
  // a copy, since a stage's params refuse to be asked for what is not declared
  const known = mustFollow(paramsFormat, { ...params }, "params of the pipeline's report stage");
  const direction = (scorer: string) => own(known.directions, scorer);
  return {
    title: known.title,
    label: known.label,
    taskTitle: (task) => own(known.tasks, task) ?? task,
    primary: (task) => own(known.primary, task) ?? null,
    floor: (task, scorer) => own(own(known.floors, task), scorer) ?? null,
    anchorRow: (task, scorer) => own(own(known.anchorRows, task), scorer) ?? null,
    published: (task, scorer) => own(own(own(known.published, task), known.label), scorer) ?? [],
    agentTitle: (agent) => own(known.agents, agent) ?? agent,
    seeded: (agent) => own(known.seeded, agent) ?? false,
    direction,
    metric: (scorer) => ({
      name: scorer,
      title: own(known.scorers, scorer) ?? scorer,
      unit: own(known.units, scorer) ?? "",
      direction:
        direction(scorer) ?? missing(`directions.${scorer}`, "say higher or lower in its scorer.yaml"),
      digits: own(known.digits, scorer) ?? 3,
      range: own(known.ranges, scorer) ?? null,
    }),
  };
}

function missing(name: string, help: string): never {
  throw new Error(`params.${name} is missing: ${help}`);
}

function own<Value>(table: Record<string, Value> | null | undefined, name: string): Value | undefined {
  return table && Object.hasOwn(table, name) ? table[name] : undefined;
}
