// The format of tasks, tasks/NAME/task.yaml.

import { ruleSeverity, ruleSource } from "../judged/verdict.ts";
import {
  closedObject,
  duration,
  fileFormat,
  formatVersionOne,
  jsonObject,
  list,
  listOf,
  name,
  oneOf,
  type TypeOf,
  tableOf,
  text,
  title,
} from "../schema.ts";

const kindOfData = { ...name, description: "a kind of data" } as const;

/** One value for each kind of data, e.g. smoke and official. */
function byKind<const Value>(value: Value, description: string) {
  return {
    ...tableOf(value),
    propertyNames: kindOfData,
    minProperties: 1,
    description: `for each kind of data: ${description}`,
  } as const;
}

export const publicNames = byKind(
  {
    type: "array",
    items: { type: "string", pattern: "^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$" },
    minItems: 1,
  },
  "names by which the public knows the benchmark that it is scored on, { KIND: [NAME, …] }; the report counts tool calls that name one",
);

const publishedValue = closedObject(
  {
    who: { ...text, description: "the agent or model" },
    value: { type: "number", description: "in the scorer's unit" },
    n: {
      type: "integer",
      minimum: 1,
      description: "number of runs; leave out if the source gives none",
    },
    note: { ...text, description: "how it was made from those runs, e.g. the best one" },
    source: { ...text, description: "where it was published" },
  },
  ["who", "value", "source"],
);

const sourceModels = { ...tableOf(name), propertyNames: name } as const;

const anchor = closedObject(
  {
    name: { ...name, description: "of the row" },
    title,
    model: { ...text, description: "a model that the anchors step can make" },
  },
  ["name", "title", "model"],
);

const expectation = {
  ...closedObject(
    {
      kind: {
        ...oneOf("range", "above-floor", "finite"),
        description:
          "range: from low to high; above-floor: no range is known, better than the trivial baseline by more than 3 standard errors and than each row of kind guess; finite: no range is known, any number",
      },
      low: { type: "number", description: "range: the smallest value" },
      high: { type: "number", description: "range: the largest value" },
      source: { ...text, description: "who reported it; needed unless the kind is finite" },
    },
    ["kind"],
  ),
  description: "what a reference model must score on a host before attempts start there",
} as const;

const taskRule = closedObject(
  {
    name: { ...name, description: "the rule in verdicts" },
    title: { ...text, description: "the rule in tables, one sentence" },
    method: { ...text, description: "the check that decides the rule" },
    with: { ...jsonObject, description: "the method's arguments, e.g. { max: 20000000 }" },
    on: {
      type: "array",
      items: kindOfData,
      minItems: 1,
      uniqueItems: true,
      description: "the kinds of data that it applies to; by default all",
    },
    source: {
      ...ruleSource,
      description: "official: the task's own text; competition: the original competition; interpreted: ours",
    },
    severity: { ...ruleSeverity, description: "strike: breaking it disqualifies; note: it is only reported" },
  },
  ["name", "title", "method", "source", "severity"],
);

export const taskManifest = fileFormat(
  "mlrb task",
  closedObject(
    {
      formatVersion: formatVersionOne,
      name: { ...name, description: "the name of its folder" },
      officialName: { ...text, description: "its name in the official package, e.g. baby_lm" },
      title,
      submission: { ...text, description: "what is submitted, one sentence" },
      scorers: byKind({ ...list, minItems: 1, uniqueItems: true }, "the scorers, { KIND: [NAME, …] }"),
      primary: byKind(text, "the scorer that decides, { KIND: NAME }"),
      publicNames,
      promptDigest: byKind(
        { type: "string", pattern: "^([0-9a-f]{64})?$", patternErrorMessage: "a SHA-256 in hex, or empty" },
        'SHA-256 of the prompt of the official package, which agents read before the task\'s own; "" where there is none. { KIND: SHA-256 }',
      ),
      environment: {
        ...text,
        description: "the lock file of its Python: of baselines, given models and what opens a submission",
      },
      models: byKind(
        text,
        "the script that makes the models given with the data, in folders by name, { KIND: SCRIPT }",
      ),
      givenModels: byKind(
        sourceModels,
        "published models for that script, from their downloads, { KIND: { NAME: SOURCE } }",
      ),
      referenceModels: byKind(
        sourceModels,
        "published models that `anchors` measures unchanged, from their downloads, { KIND: { NAME: SOURCE } }",
      ),
      generate: {
        ...text,
        description: "the script with which a submission generates the texts that all its scorers judge",
      },
      budget: byKind(
        closedObject({ time: { ...duration, description: "with a unit, e.g. 24h" } }, ["time"]),
        "what an agent may spend",
      ),
      floors: byKind(
        {
          ...tableOf({ type: ["number", "string"], minLength: 1 }),
          description: "by scorer: a number or the name of an anchors row, { NAME: 0.5 }",
        },
        "the trivial baseline: the value of guessing or of doing nothing, { KIND: { NAME: 0.5 } }",
      ),
      anchors: byKind(
        listOf(anchor),
        "models that were not trained for the task, measured like its attempts",
      ),
      anchorRows: byKind(
        {
          ...tableOf(text),
          description: "by scorer: the name of an anchors row, { NAME: ROW }",
        },
        "the anchors row of the reference model: 1 on the normalised scale, { KIND: { NAME: ROW } }",
      ),
      expected: byKind(
        {
          ...tableOf(tableOf(expectation)),
          description: "by scorer and reference model, { NAME: { ROW: { kind: finite } } }",
        },
        "what the models of `anchors` must score before attempts start, { KIND: { NAME: { ROW: { kind, … } } } }",
      ),
      published: byKind(
        {
          ...tableOf({ ...listOf(publishedValue), minItems: 1 }),
          description: "by scorer: what others published, { NAME: [{ who, value, n, source }] }",
        },
        "what others published on this data, { KIND: { NAME: [{ who, value, n, source }] } }",
      ),
      downloads: byKind(
        { ...list, uniqueItems: true },
        "the sources (sources/NAME.yaml) that its data and models come from, { KIND: [NAME, …] }",
      ),
      sources: { ...jsonObject, description: "for people: where each kind of data comes from" },
      rules: { ...listOf(taskRule), description: "what a submission must keep to" },
      limits: { ...list, description: "for people: what its numbers cannot show" },
    },
    ["formatVersion", "name", "title", "submission", "scorers", "primary", "budget", "floors", "rules"],
  ),
);

export type TaskManifest = TypeOf<typeof taskManifest>;
export type Expectation = TypeOf<typeof expectation>;
export type TaskRule = TypeOf<typeof taskRule>;
/** The kind of data of a task, e.g. `smoke` or `official`; a pipeline's `params.data` selects it. */
export type DataKind = string;
