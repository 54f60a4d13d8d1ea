// The format of tasks, tasks/NAME/task.yaml.

import { ruleSeverity, ruleSource } from "../judged/verdict.ts";
import * as t from "../schema.ts";

const kindOfData = t.about(t.name, "a kind of data");

/** One value for each kind of data, e.g. smoke and official. */
function byKind<const Value>(value: Value, description: string) {
  return t.about(
    { ...t.tableOf(value), propertyNames: kindOfData, minProperties: 1 },
    `for each kind of data: ${description}`,
  );
}

export const publicNames = byKind(
  {
    type: "array",
    items: { type: "string", pattern: "^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$" },
    minItems: 1,
  },
  "names by which the public knows the benchmark that it is scored on, { KIND: [NAME, …] }; the report counts tool calls that name one",
);

const publishedValue = t.closedObject(
  {
    who: t.about(t.text, "the agent or model"),
    value: t.about(t.number, "in the scorer's unit"),
    n: t.about(t.positiveInteger, "number of runs; leave out if the source gives none"),
    note: t.about(t.text, "how it was made from those runs, e.g. the best one"),
    source: t.about(t.text, "where it was published"),
  },
  ["who", "value", "source"],
);

const sourceModels = { ...t.tableOf(t.name), propertyNames: t.name } as const;

const reference = t.closedObject(
  {
    name: t.about(t.name, "of the row"),
    title: t.title,
    model: t.about(t.text, "a model that the references step can make"),
  },
  ["name", "title", "model"],
);

const expectation = t.about(
  t.closedObject(
    {
      kind: t.about(
        t.oneOf("published", "range", "above-baseline", "finite"),
        "published: within a share of a published value; range: from low to high; above-baseline: no range is known, better than the trivial baseline by more than 3 standard errors and than each row of kind guess; finite: no range is known, any number",
      ),
      value: t.about(t.number, "published: the value that its source reports"),
      within: t.about(t.number, "published: the largest difference, as a share of the value"),
      of: t.about(
        t.text,
        "published: the number among the row's extra ones that is compared; by default the score",
      ),
      low: t.about(t.number, "range: the smallest value"),
      high: t.about(t.number, "range: the largest value"),
      source: t.about(t.text, "who reported it; needed unless the kind is finite"),
    },
    ["kind"],
  ),
  "what a reference model must score on a host before attempts start there",
);

const taskRule = t.closedObject(
  {
    name: t.about(t.name, "the rule in verdicts"),
    title: t.about(t.text, "the rule in tables, one sentence"),
    method: t.about(t.text, "the check that decides the rule"),
    with: t.about(t.jsonObject, "the method's arguments, e.g. { max: 20000000 }"),
    on: t.about(
      { type: "array", items: kindOfData, minItems: 1, uniqueItems: true },
      "the kinds of data that it applies to; by default all",
    ),
    source: t.about(
      ruleSource,
      "official: the task's own text; competition: the original competition; interpreted: ours",
    ),
    severity: t.about(ruleSeverity, "disqualify: breaking it disqualifies; note: it is only reported"),
  },
  ["name", "title", "method", "source", "severity"],
);

const models = byKind(
  t.text,
  "the script that makes the models given with the data, in folders by name, { KIND: SCRIPT }",
);

const givenModels = byKind(
  sourceModels,
  "published models for that script, from their downloads, { KIND: { NAME: SOURCE } }",
);

const baselines = byKind(
  t.about(
    t.tableOf({ type: ["number", "string"], minLength: 1 }),
    "by scorer: a number or the name of a row of the references, { NAME: 0.5 }",
  ),
  "the trivial baseline: the value of guessing or of doing nothing, { KIND: { NAME: 0.5 } }",
);

const referenceRows = byKind(
  t.about(t.tableOf(t.text), "by scorer: the name of a row of the references, { NAME: ROW }"),
  "the references row of the reference model: 1 on the normalised scale, { KIND: { NAME: ROW } }",
);

const devScorer = t.closedObject(
  {
    scorer: t.about(t.name, "the scorer; it need not be one of the task's own"),
    rows: t.about(t.pathInside, "of the public data: JSON Lines, or with `split` a set of the hub"),
    split: t.about(t.text, "of that data set"),
    as: t.about(t.pathInside, "where the scorer reads them, e.g. mmlu/{subject}/test.jsonl by a field"),
    text: t.about(t.text, "the field with a document; then each row is written as the document alone"),
    keep: t.about(t.listOf(t.pathInside), "private files that the scorer reads too, never test rows"),
    most: t.about(t.positiveInteger, "rows that are scored, evenly spaced; by default all"),
  },
  ["scorer", "rows", "as"],
);

const expected = byKind(
  t.about(
    t.tableOf(t.tableOf(expectation)),
    "by scorer and reference model, { NAME: { ROW: { kind: finite } } }",
  ),
  "what the models of `references` must score before attempts start, { KIND: { NAME: { ROW: { kind, … } } } }",
);

const downloads = byKind(
  { ...t.list, uniqueItems: true },
  "the sources (sources/NAME.yaml) that its data and models come from, { KIND: [NAME, …] }",
);

/** Its own tables stand in place of the task's, kind by kind; it is no level of kinds that one of them lacks. */
const taskLevel = t.closedObject(
  {
    of: t.about(t.oneOf("time", "memory", "data", "model", "help"), "what it changes: one thing"),
    dose: t.about(t.number, "how much of it there is; of time and data the share that is left"),
    unit: t.about(t.text, "of the dose, in tables, e.g. GB"),
    whole: t.about(t.number, "the dose of the task itself; by default 1 of time and data, 0 of help"),
    doses: byKind(
      t.closedObject({ dose: t.number, whole: t.number }, ["dose", "whole"]),
      "on kinds of data where they are others, { KIND: { dose, whole } }",
    ),
    says: t.about(t.text, "what agents read of it, after the official text and the task's own"),
    help: t.about(t.pathInside, "a folder of tasks/ that agents find as help/, e.g. baby-lm/help/report"),
    bytes: byKind(t.positiveInteger, "of the rules with the method memory-max, { KIND: BYTES }"),
    ...{ models, givenModels, downloads, baselines, referenceRows, expected },
  },
  ["of", "dose", "unit", "says"],
);

export const taskManifest = t.fileFormat(
  "mlrb task",
  t.closedObject(
    {
      formatVersion: t.formatVersionOne,
      name: t.about(t.name, "the name of its folder"),
      officialName: t.about(t.text, "its name in the official package, e.g. baby_lm"),
      title: t.title,
      submission: t.about(t.text, "what is submitted, one sentence"),
      scorers: byKind({ ...t.list, minItems: 1, uniqueItems: true }, "the scorers, { KIND: [NAME, …] }"),
      primary: byKind(t.text, "the scorer that decides, { KIND: NAME }"),
      publicNames,
      seeds: byKind(
        { ...t.listOf({ type: "integer" }), minItems: 1, uniqueItems: true },
        "the seeds where a run names none, { KIND: [1] } where training does not vary; by default those of the pipeline",
      ),
      promptDigest: byKind(
        { type: "string", pattern: "^([0-9a-f]{64})?$", patternErrorMessage: "a SHA-256 in hex, or empty" },
        'SHA-256 of the prompt of the official package, which agents read before the task\'s own; "" where there is none. { KIND: SHA-256 }',
      ),
      environment: t.about(
        t.text,
        "the lock file of its Python: of scripted agents, given models and what opens a submission",
      ),
      models,
      givenModels,
      publishedModels: byKind(
        sourceModels,
        "published models that `references` measures unchanged, from their downloads, { KIND: { NAME: SOURCE } }",
      ),
      generate: t.about(
        t.text,
        "the script with which a submission generates the texts that all its scorers judge; none where scorers call the model themselves",
      ),
      budget: byKind(
        t.closedObject({ time: t.about(t.duration, "with a unit, e.g. 24h") }, ["time"]),
        "what an agent may spend",
      ),
      baselines,
      references: byKind(
        t.listOf(reference),
        "models that were not trained for the task, measured like its attempts",
      ),
      referenceRows,
      success: byKind(
        { type: ["number", "string"], minLength: 1 },
        "when an attempt succeeds by the primary scorer, for pass@k: a score that is at least as good, or the name of a row of the references to beat by two of its standard errors; by default that of referenceRows",
      ),
      devScorers: byKind(
        devScorer,
        "the scorer of public rows that agents need not train on, by which the best of k attempts is chosen",
      ),
      expected,
      published: byKind(
        t.about(
          t.tableOf({ ...t.listOf(publishedValue), minItems: 1 }),
          "by scorer: what others published, { NAME: [{ who, value, n, source }] }",
        ),
        "what others published on this data, { KIND: { NAME: [{ who, value, n, source }] } }",
      ),
      downloads,
      levels: t.about(
        { ...t.tableOf(taskLevel), propertyNames: t.name },
        "levels of difficulty by name; the task TASK@LEVEL is the task with one thing changed",
      ),
      sources: t.about(t.jsonObject, "for people: where each kind of data comes from"),
      rules: t.about(t.listOf(taskRule), "what a submission must keep to"),
      limits: t.about(t.list, "for people: what its numbers cannot show"),
    },
    ["formatVersion", "name", "title", "submission", "scorers", "primary", "budget", "baselines", "rules"],
  ),
);

export type TaskManifest = t.TypeOf<typeof taskManifest>;
export type Expectation = t.TypeOf<typeof expectation>;
export type TaskLevel = t.TypeOf<typeof taskLevel>;
export type TaskRule = t.TypeOf<typeof taskRule>;
/** The kind of data of a task, e.g. `smoke` or `official`; a pipeline's `params.data` selects it. */
export type DataKind = string;
