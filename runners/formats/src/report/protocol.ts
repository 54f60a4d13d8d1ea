// The formats of a frozen protocol, protocols/PIPELINE/PROFILE.json, and of what was observed when a report was compared
// with it. Both hold the same facts, so that departures are the differences of two values.
import {
  anyText,
  count,
  declaredName,
  fileFormat,
  kindsOf,
  listOf,
  oneOf,
  orNull,
  seed,
  sha256,
  type TypeOf,
  tableOf,
  text,
  textOrNull,
  wholeObject,
} from "../schema.ts";

const arm = {
  ...wholeObject({ task: anyText, agent: anyText, seeds: listOf(seed) }),
  description: "the planned attempts of an agent at a task; n is the number of seeds",
} as const;

const measured = wholeObject({
  task: anyText,
  primary: { ...textOrNull, description: "the metric that decides the task; null: none" },
  metrics: { ...listOf(anyText), description: "every planned metric" },
});

const definition = {
  ...wholeObject({
    stage: { ...anyText, description: "the stage's name" },
    role: { ...textOrNull, description: "the role of its results; null: none" },
    parts: {
      ...tableOf(anyText),
      description:
        "each part of the action key that the repository and the pipeline decide, by name: digests of code, files and parameters, the budget, the environment; without inputs; for an attempt also one digest of its harness",
    },
    instances: { ...listOf(anyText), description: "stage instances with these parts" },
  }),
  description: "how a stage makes its results",
} as const;
export type Definition = TypeOf<typeof definition>;

const protocolFacts = {
  arms: listOf(arm),
  tasks: listOf(measured),
  analysis: {
    ...listOf(wholeObject({ name: anyText, text: anyText })),
    description: "tests, level, correction, intervals, and how attempts count, in words",
  },
  definitions: listOf(definition),
} as const;
const facts = wholeObject(protocolFacts);
export type ProtocolFacts = TypeOf<typeof facts>;

export const frozenProtocol = fileFormat(
  "mlrb protocol",
  wholeObject({
    formatVersion: { const: 1 },
    pipeline: declaredName,
    profile: declaredName,
    selection: { ...anyText, description: "the values of --set; empty: the whole plan" },
    ...protocolFacts,
  }),
);
export type FrozenProtocol = TypeOf<typeof frozenProtocol>;

const departureKinds = [
  "other-protocol",
  "added-attempt",
  "removed-attempt",
  "missing-attempt",
  "repeated-attempt",
  "resumed-attempt",
  "extended-attempt",
  "imported-attempt",
  "accepted-attempt",
  "adjudication",
  "changed-metric",
  "changed-analysis",
  "changed-stage",
  "changed-plan",
] as const;

const departure = wholeObject({
  kind: oneOf(...departureKinds),
  what: text,
  where: { ...anyText, description: "cells, stages, or empty for everything" },
  primary: {
    ...oneOf("yes", "no", "may"),
    description: "whether it changes the table of means: yes, no, or it may",
  },
});
export type Departure = TypeOf<typeof departure>;

const started = {
  ...listOf(
    wholeObject({
      where: text,
      protocol: { ...orNull(sha256), description: "the digest of the one that lay there then; null: none" },
    }),
  ),
  description: "each attempt behind the report",
} as const;

export const protocolObservation = fileFormat(
  "mlrb observation for a protocol",
  wholeObject({
    formatVersion: { const: 1 },
    path: { ...text, description: "of the protocol, from the root" },
    ...protocolFacts,
    started,
    happened: { ...listOf(departure), description: "departures of single attempts" },
  }),
);
export type ProtocolObservation = TypeOf<typeof protocolObservation>;

export const protocolResult = fileFormat(
  "mlrb protocol of a report",
  wholeObject({
    formatVersion: { const: 1 },
    found: kindsOf(
      wholeObject({
        kind: { const: "frozen" },
        path: anyText,
        digest: { ...sha256, description: "SHA-256 of its file" },
        selection: anyText,
        attempts: { ...count, description: "attempts behind the report" },
        before: { ...count, description: "those that started when this protocol lay there" },
        departures: listOf(departure),
      }),
      wholeObject({ kind: { const: "unreadable" }, path: anyText, cause: anyText }),
      wholeObject({ kind: { const: "none" }, freeze: { ...anyText, description: "the command" } }),
    ),
  }),
);
export type ProtocolResult = TypeOf<typeof protocolResult>["found"];
