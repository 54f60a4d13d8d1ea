// The pipeline's parameters of the report: tables of tasks, agents and scorers by name, which the runner fills in
// from the manifests. They are this repository's own, so a wrong one is a mistake in the pipeline and throws.

import { agentPreset } from "@mlrb/formats/declared/agent-preset";
import { scorerManifest } from "@mlrb/formats/declared/scorer";
import { taskManifest } from "@mlrb/formats/declared/task";
import { mustFollow } from "@mlrb/formats/read-format";
import { type AgentFacts, type Metric, metric } from "@mlrb/formats/report";
import { taskLevel } from "@mlrb/formats/report/ladder";
import {
  anyText,
  listOf,
  number,
  numberOrNull,
  openObject,
  orNull,
  positiveInteger,
  type TypeOf,
  tableOf,
} from "@mlrb/formats/schema";
import { familyOf, unknownFamily } from "@mlrb/kit/attempts/model-family";
import { rulesOn } from "@mlrb/kit/rules/rules-on";

const { baselines, referenceRows, expected, published, rules } = taskManifest.properties;
const { additionalProperties: success } = taskManifest.properties.success;
const { doses } = taskManifest.properties.levels.additionalProperties.properties;
const { direction, digits, range } = scorerManifest.properties;

/** The fields of a preset that tables show. The runner fills in null for those that the preset lacks. */
const { kind, provider, scaffold, turnsMax } = agentPreset.properties;
const calledModel = openObject({ provider, id: anyText }, []);
const presetFields = {
  kind,
  provider: orNull(provider),
  model: orNull(calledModel),
  planner: orNull(calledModel),
  scaffold: orNull(scaffold),
  turnsMax: orNull(turnsMax),
  gateway: orNull(listOf(openObject({ provider, ids: listOf(anyText) }, ["provider", "ids"]))),
};
const memberOfTeam = openObject({ preset: openObject(presetFields, ["kind"]) }, ["preset"]);
const preset = openObject(
  { ...presetFields, team: orNull(openObject({ members: listOf(memberOfTeam) }, ["members"])) },
  ["kind"],
);

/** What the report compares under one limit: a team, one agent with all of it, and the best of k that share it. */
const arm = openObject({ team: anyText, solo: anyText, bestOf: anyText, k: positiveInteger }, [
  ...(["team", "solo", "bestOf", "k"] as const),
]);

/** An optional field of a manifest is null where the manifest lacks it. */
const paramsFormat = openObject(
  {
    title: anyText,
    label: anyText,
    tasks: tableOf(anyText),
    primary: tableOf(anyText),
    baselines: tableOf(baselines.additionalProperties),
    referenceRows: tableOf(orNull(referenceRows.additionalProperties)),
    expected: tableOf(orNull(expected.additionalProperties)),
    published: tableOf(orNull(published)),
    rules: tableOf(rules),
    presets: tableOf(preset),
    agents: tableOf(anyText),
    seeded: tableOf(orNull(agentPreset.properties.seeded)),
    scorers: tableOf(anyText),
    units: tableOf(anyText),
    directions: tableOf(direction),
    digits: tableOf(digits),
    ranges: tableOf(orNull(range)),
    referenceTokensPerSecond: numberOrNull,
    levels: tableOf(orNull(openObject({ ...taskLevel.properties, doses }, taskLevel.required))),
    equalMargin: number,
    bestOf: orNull(listOf(positiveInteger)),
    choices: tableOf(openObject({ metric: orNull(metric), success: orNull(success) }, ["metric"])),
    arms: orNull(tableOf(arm)),
    primaryArm: orNull(anyText),
    dollarsPerMachineHour: numberOrNull,
  },
  ["title", "label", "tasks", "primary", "baselines", "agents", "scorers", "units", "directions", "digits"],
);

export type ReportParams = ReturnType<typeof reportParams>;

/** Checks `params` of the report stage. Throws with the parameter's name and the expected form. */
export function reportParams(params: Record<string, unknown>) {
  // a copy, because a stage's params throw when an undeclared one is read
  const known = mustFollow(paramsFormat, { ...params }, "params of the pipeline's report stage");
  const direction = (scorer: string) => own(known.directions, scorer);
  const { arms, primaryArm } = known;
  if (arms && (primaryArm == null || !Object.hasOwn(arms, primaryArm)))
    missing("primaryArm", `name one of the arms: ${Object.keys(arms).join(", ")}`);
  return {
    title: known.title,
    label: known.label,
    taskTitle: (task: string) => own(known.tasks, task) ?? task,
    /** The scorer that decides the task; null where the pipeline names none. */
    primary: (task: string) => own(known.primary, task) ?? null,
    /** A number, the name of a row of the references, or null where task.yaml has no trivial baseline for the scorer. */
    baseline: (task: string, scorer: string) => own(own(known.baselines, task), scorer) ?? null,
    /** The references row that is the reference model; null where task.yaml names none. */
    referenceRow: (task: string, scorer: string) => own(own(known.referenceRows, task), scorer) ?? null,
    /** What is expected of reference models, by row; empty where task.yaml expects nothing. */
    expected: (task: string, scorer: string) => own(own(known.expected, task), scorer) ?? {},
    /** Values that others published on the data that the label names; empty where task.yaml has none. */
    published: (task: string, scorer: string) =>
      own(own(own(known.published, task), known.label), scorer) ?? [],
    /** How many rules the task has on the data that the label names; undefined where the pipeline does not say. */
    ruleCounts(task: string) {
      const all = own(known.rules, task);
      if (all === undefined) return undefined;
      const notes = rulesOn(all, known.label).filter(({ severity }) => severity === "note").length;
      return { disqualifying: rulesOn(all, known.label).length - notes, notes };
    },
    agentTitle: (agent: string) => own(known.agents, agent) ?? agent,
    /** Undefined where the pipeline does not say. */
    agentFacts(agent: string) {
      const found = own(known.presets, agent);
      return found && factsOf(found);
    },
    /** Of an agent's first model; null without one. */
    family(agent: string) {
      const [provider = "", id = ""] = this.agentFacts(agent)?.models[0]?.split(" ") ?? [];
      return id === "" ? null : (familyOf({ provider, id }) ?? unknownFamily);
    },
    /** Whether the seed is the agent's only randomness; false for unknown agents. */
    seeded: (agent: string) => own(known.seeded, agent) ?? false,
    /** Training tokens per second of the host that counts as 1; null: the calibrated one. */
    referenceTokensPerSecond: known.referenceTokensPerSecond ?? null,
    /** Of tasks at a level of difficulty. */
    levels: Object.values(known.levels ?? {})
      .flatMap((level) => level ?? [])
      .map(({ doses, ...level }) => ({ ...level, ...doses?.[known.label] })),
    isWhole: (task: string) => !own(known.levels, task),
    /** The numbers of attempts to choose from, 1 among them; empty where the pipeline asks for none. */
    bestOf: [...new Set([...(known.bestOf?.length ? [1] : []), ...(known.bestOf ?? [])])].sort(
      (a, b) => a - b,
    ),
    /** A score, the name of a row of the references, or null where task.yaml declares nothing. */
    success: (task: string) => own(known.choices, task)?.success ?? null,
    /** The scorer of public rows by which the best of k is chosen; undefined where the task has none. */
    devMetric: (task: string) => own(known.choices, task)?.metric ?? undefined,
    /** Undefined where the pipeline compares no teams. */
    together: arms
      ? { arms, primaryArm: primaryArm!, dollarsPerMachineHour: known.dollarsPerMachineHour ?? null }
      : undefined,
    /** Within which a normalised mean counts as equal to the trivial baseline. */
    equalMargin: known.equalMargin ?? 0,
    /** Undefined for a name that is not a scorer. */
    direction,
    metric: (scorer: string): Metric => ({
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

function factsOf(found: TypeOf<typeof preset>): AgentFacts {
  const { kind, provider, model, planner, scaffold, turnsMax, gateway, team } = found;
  const ofMembers = team?.members.flatMap((one) => factsOf(one.preset).models) ?? [];
  const called = (from: string | null | undefined, id = "chosen by each run") =>
    from ? `${from} ${id}` : id;
  return {
    kind,
    models: [
      ...(model ? [called(provider, model.id)] : []),
      ...(gateway ?? []).flatMap((one) => one.ids.map((id) => called(one.provider, id))),
      ...new Set(ofMembers),
    ],
    planner: planner ? called(planner.provider, planner.id) : null,
    scaffold: scaffold ?? null,
    turnsMax: turnsMax ?? null,
  };
}

function missing(name: string, help: string): never {
  throw new Error(`params.${name} is missing: ${help}`);
}

function own<Value>(table: Record<string, Value> | null | undefined, name: string): Value | undefined {
  return table && Object.hasOwn(table, name) ? table[name] : undefined;
}
