// Schemas of the folders that people add: tasks and scorers; agent-schema.ts has that of agent
// presets. Published beside the pipeline's schema; the types that scripts see stand in @mlrb/kit/manifests.

import { closed, list, name, text } from "./schema-shapes.ts";

const duration = { ...text, format: "duration" } as const;
const kind = { ...name, description: "a kind of data" } as const;

/** One value for each kind of data that a pipeline can ask for, e.g. smoke and official. */
const byKind = (value: object, description: string) => ({
  type: "object",
  propertyNames: kind,
  additionalProperties: value,
  minProperties: 1,
  description: `for each kind of data: ${description}`,
});

const published = {
  type: "object",
  additionalProperties: false,
  properties: {
    who: { ...text, description: "whose agent or model" },
    value: { type: "number" },
    n: {
      type: "integer",
      minimum: 1,
      description: "runs that it is of; left out where the source gives none",
    },
    note: { ...text, description: "what it is of those runs, e.g. the best one" },
    source: text,
  },
  required: ["who", "value", "source"],
};

const rule = {
  type: "object",
  additionalProperties: false,
  properties: {
    name,
    title: text,
    method: text,
    with: { type: "object" },
    on: {
      type: "array",
      items: kind,
      minItems: 1,
      uniqueItems: true,
      description: "the kinds of data that it holds for; all where it says none",
    },
    source: { enum: ["official", "competition", "interpreted"] },
    severity: { enum: ["strike", "note"] },
  },
  required: ["name", "title", "method", "source", "severity"],
};

const anchor = {
  type: "object",
  additionalProperties: false,
  properties: { name, title: text, model: text },
  required: ["name", "title", "model"],
};

export const taskSchema = {
  title: "mlrb task",
  ...closed(
    {
      formatVersion: { const: 1 },
      name,
      officialName: text,
      title: text,
      submission: text,
      scorers: byKind({ ...list, minItems: 1, uniqueItems: true }, "the scorers, { KIND: [NAME, …] }"),
      primary: byKind(text, "the scorer that decides, { KIND: NAME }"),
      environment: text,
      models: {
        ...text,
        description: "the script that makes the models given beside the data, in folders by name",
      },
      generate: {
        ...text,
        description: "the script that has a submission write what its scorers judge, once for all of them",
      },
      budget: byKind(
        {
          type: "object",
          additionalProperties: false,
          properties: { time: duration },
          required: ["time"],
        },
        "what an agent may spend",
      ),
      floors: byKind(
        {
          type: "object",
          additionalProperties: { type: ["number", "string"], minLength: 1 },
          description: "by scorer: a number or the name of an anchors row, { NAME: 0.5 }",
        },
        "what no skill reaches, { KIND: { NAME: 0.5 } }",
      ),
      anchors: byKind(
        { type: "array", items: anchor },
        "models that nobody trained for the task, measured beside its attempts",
      ),
      anchorRows: byKind(
        {
          type: "object",
          additionalProperties: text,
          description: "by scorer: the name of an anchors row, { NAME: ROW }",
        },
        "the anchors row that is 1 where the floor is 0, { KIND: { NAME: ROW } }",
      ),
      published: byKind(
        {
          type: "object",
          additionalProperties: { type: "array", items: published, minItems: 1 },
          description: "by scorer: what others published, { NAME: [{ who, value, n, source }] }",
        },
        "what others published on this data, { KIND: { NAME: [{ who, value, n, source }] } }",
      ),
      sources: { type: "object" },
      rules: { type: "array", items: rule },
      limits: list,
    },
    ["formatVersion", "name", "title", "submission", "scorers", "primary", "budget", "floors", "rules"],
  ),
};

export const scorerSchema = {
  title: "mlrb scorer",
  ...closed(
    {
      formatVersion: { const: 1 },
      name,
      title: text,
      version: { type: "integer", minimum: 1 },
      unit: text,
      direction: { enum: ["higher", "lower"] },
      range: {
        type: "array",
        items: [{ type: "number" }, { type: ["number", "null"] }],
        minItems: 2,
        maxItems: 2,
        additionalItems: false,
        description: "the least and the most that it can be, null for no most: [0, 1]",
      },
      environment: text,
      hostSensitive: { type: "boolean" },
      programs: { type: "boolean", description: "whether its scripts start programs; false by default" },
      command: {
        ...text,
        description: "a program outside the environment that it starts, as written in a shell",
      },
      digits: { type: "integer", minimum: 0, maximum: 6 },
    },
    ["formatVersion", "name", "title", "version", "unit", "direction", "digits"],
  ),
};
