// The formats of a frozen protocol, protocols/PIPELINE/PROFILE.json, and of what was observed when a report was compared
// with it. Both hold the same facts, so that departures are the differences of two values.
import {
  anyText,
  count,
  declaredName,
  fileFormat,
  flag,
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
  ...wholeObject({
    task: anyText,
    agent: anyText,
    seeds: listOf(seed),
  }),
  description: "the planned attempts of an agent at a task; n is the number of seeds",
} as const;

const measured = wholeObject({
  task: anyText,
  primary: { ...textOrNull, description: "the metric that decides the task; null: none" },
  metrics: { ...listOf(anyText), description: "every planned metric" },
});

const definedParts = {
  ...tableOf(anyText),
  description:
    "each part of the action key that the repository and the pipeline decide, by name: digests of code, files and parameters, the budget, the environment; without inputs; for an attempt also one digest of its harness",
} as const;

const definition = {
  ...wholeObject({
    stage: { ...anyText, description: "the stage's name" },
    role: { ...textOrNull, description: "the role of its results; null: none" },
    parts: definedParts,
    instances: { ...listOf(anyText), description: "stage instances with these parts" },
  }),
  description: "how a stage makes its results",
} as const;
export type Definition = TypeOf<typeof definition>;

const statement = wholeObject({ name: anyText, text: anyText });

const protocolFacts = {
  commit: { ...textOrNull, description: "the program's commit; null: in no Git repository" },
  arms: listOf(arm),
  tasks: listOf(measured),
  analysis: {
    ...listOf(statement),
    description: "tests, level, correction, intervals, and how attempts count, in words",
  },
  definitions: listOf(definition),
} as const;
const facts = wholeObject(protocolFacts);
export type ProtocolFacts = TypeOf<typeof facts>;

const place = { task: anyText, agent: anyText, seed } as const;

const earlier = wholeObject({ ...place, startedAt: text });

const replacedProtocol = wholeObject({
  digest: sha256,
  frozenAt: text,
  reason: { ...text, description: "why it was replaced, in the words of the person" },
});

const protocolFields = {
  formatVersion: { const: 1 },
  pipeline: declaredName,
  profile: declaredName,
  selection: { ...anyText, description: "the values of --set; empty: the whole plan" },
  frozenAt: { ...text, description: "ISO 8601, UTC, by this machine's clock" },
  ...protocolFacts,
  before: { ...listOf(earlier), description: "attempts that had been started before" },
  replaced: { ...listOf(replacedProtocol), description: "protocols that it replaces, oldest first" },
} as const;

const unsealed = wholeObject(protocolFields);
/** Everything that the digest covers. */
export type Protocol = TypeOf<typeof unsealed>;

export const frozenProtocol = fileFormat(
  "mlrb protocol",
  wholeObject({
    ...protocolFields,
    digest: { ...sha256, description: "SHA-256 of the file's other fields, as JSON with sorted keys" },
  }),
);
export type FrozenProtocol = TypeOf<typeof frozenProtocol>;

const otherTry = wholeObject({
  kind: oneOf("recorded", "lost", "running"),
  startedAt: text,
  cause: { ...anyText, description: "why it ended without a record; may be empty" },
});

const decision = wholeObject({
  rule: anyText,
  verdict: anyText,
  by: anyText,
  decidedAt: { ...textOrNull, description: "null: unknown" },
});

const observedAttempt = wholeObject({
  ...place,
  used: {
    ...orNull(wholeObject({ record: sha256, startedAt: text })),
    description: "the record behind the tables; null: none",
  },
  missing: { ...textOrNull, description: "why the tables have no verdict of it; null: they have one" },
  note: { ...anyText, description: "e.g. that it was accepted as stale; may be empty" },
  isImported: flag,
  resumed: count,
  extensions: count,
  decisions: listOf(decision),
  others: { ...listOf(otherTry), description: "other attempts in its place" },
});
export type ObservedAttempt = TypeOf<typeof observedAttempt>;

/** A line of .mlrb/attempts/protocols.jsonl. */
export const protocolFreeze = fileFormat(
  "mlrb freeze of a protocol",
  wholeObject({ formatVersion: { const: 1 }, path: text, digest: sha256, frozenAt: text }),
);

const earlierProtocol = wholeObject({
  ...{ digest: sha256, frozenAt: text },
  seen: { ...text, description: "where: this state folder, or a commit" },
});

const committed = {
  ...orNull(wholeObject({ commit: text, committedAt: text })),
  description: "the first Git commit that holds the protocol as it is; null: none is known",
} as const;

export const protocolObservation = fileFormat(
  "mlrb observation for a protocol",
  wholeObject({
    formatVersion: { const: 1 },
    path: { ...text, description: "of the protocol, from the root" },
    ...protocolFacts,
    attempts: listOf(observedAttempt),
    earlier: { ...listOf(earlierProtocol), description: "other protocols that this path had" },
    committed,
  }),
);
export type ProtocolObservation = TypeOf<typeof protocolObservation>;

const departureKinds = [
  "replaced-protocol",
  "earlier-protocol",
  "started-before",
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
  when: { ...textOrNull, description: "ISO 8601; null: not known" },
  primary: {
    ...oneOf("yes", "no", "may"),
    description: "whether it changes the table of means: yes, no, or it may",
  },
});
export type Departure = TypeOf<typeof departure>;

export const protocolResult = fileFormat(
  "mlrb protocol of a report",
  wholeObject({
    formatVersion: { const: 1 },
    found: kindsOf(
      wholeObject({
        kind: { const: "frozen" },
        path: anyText,
        digest: sha256,
        frozenAt: text,
        selection: anyText,
        commit: textOrNull,
        before: count,
        committed,
        departures: listOf(departure),
      }),
      wholeObject({ kind: { const: "unreadable" }, path: anyText, cause: anyText }),
      wholeObject({ kind: { const: "none" }, freeze: { ...anyText, description: "the command" } }),
    ),
  }),
);
export type ProtocolResult = TypeOf<typeof protocolResult>["found"];
