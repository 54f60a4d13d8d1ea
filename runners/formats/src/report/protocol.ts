// The formats of a frozen protocol, protocols/PIPELINE/PROFILE.json, and of what was observed when a report was
// compared with it. Both hold the same facts, so that departures are the differences of two values.
import * as t from "../schema.ts";

const arm = t.about(
  t.wholeObject({ task: t.anyText, agent: t.anyText, seeds: t.listOf(t.seed) }),
  "the planned attempts of an agent at a task; n is the number of seeds",
);

const measured = t.wholeObject({
  task: t.anyText,
  primary: t.about(t.textOrNull, "the metric that decides the task; null: none"),
  metrics: t.about(t.listOf(t.anyText), "every planned metric"),
});

const definition = t.about(
  t.wholeObject({
    stage: t.about(t.anyText, "the stage's name"),
    role: t.about(t.textOrNull, "the role of its results; null: none"),
    parts: t.about(
      t.tableOf(t.anyText),
      "each part of the action key that the repository and the pipeline decide, by name: digests of code, files and parameters, the budget, the environment; without inputs; for an attempt also one digest of its harness",
    ),
    instances: t.about(t.listOf(t.anyText), "stage instances with these parts"),
  }),
  "how a stage makes its results",
);
export type Definition = t.TypeOf<typeof definition>;

const protocolFacts = {
  arms: t.listOf(arm),
  tasks: t.listOf(measured),
  analysis: t.about(
    t.listOf(t.wholeObject({ name: t.anyText, text: t.anyText })),
    "tests, level, correction, intervals, and how attempts count, in words",
  ),
  definitions: t.listOf(definition),
} as const;
const facts = t.wholeObject(protocolFacts);
export type ProtocolFacts = t.TypeOf<typeof facts>;

export const frozenProtocol = t.wholeFile("mlrb protocol", 1, {
  pipeline: t.declaredName,
  profile: t.declaredName,
  selection: t.about(t.anyText, "the values of --set; empty: the whole plan"),
  ...protocolFacts,
});
export type FrozenProtocol = t.TypeOf<typeof frozenProtocol>;

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

const departure = t.wholeObject({
  kind: t.oneOf(...departureKinds),
  what: t.text,
  where: t.about(t.anyText, "cells, stages, or empty for everything"),
  primary: t.about(t.oneOf("yes", "no", "may"), "whether it changes the table of means: yes, no, or it may"),
});
export type Departure = t.TypeOf<typeof departure>;

const started = t.about(
  t.listOf(
    t.wholeObject({
      where: t.text,
      protocol: t.about(t.orNull(t.sha256), "the digest of the one that lay there then; null: none"),
    }),
  ),
  "each attempt behind the report",
);

export const protocolObservation = t.wholeFile("mlrb observation for a protocol", 1, {
  path: t.about(t.text, "of the protocol, from the root"),
  ...protocolFacts,
  started,
  happened: t.about(t.listOf(departure), "departures of single attempts"),
});
export type ProtocolObservation = t.TypeOf<typeof protocolObservation>;

export const protocolResult = t.wholeFile("mlrb protocol of a report", 1, {
  found: t.kindsOf(
    t.variant("frozen", {
      path: t.anyText,
      digest: t.about(t.sha256, "SHA-256 of its file"),
      selection: t.anyText,
      attempts: t.about(t.count, "attempts behind the report"),
      before: t.about(t.count, "those that started when this protocol lay there"),
      departures: t.listOf(departure),
    }),
    t.variant("unreadable", { path: t.anyText, cause: t.anyText }),
    t.variant("none", { freeze: t.about(t.anyText, "the command") }),
  ),
});
export type ProtocolResult = t.TypeOf<typeof protocolResult>["found"];
