// An attempt in report.json: its verdict, scores, research and intermediate checkpoints.

import { memberDecision } from "../attempt/adjudication.ts";
import { uncheckedFields, uncheckedNames } from "../attempt/attempt-record.ts";
import { condition } from "../attempt/condition.ts";
import { benchmarkCalls, end, label, runs } from "../attempt/iterations.ts";
import { memberOrigin } from "../attempt/record-origin.ts";
import { weakLimits } from "../attempt/weak-limits.ts";
import { interventionSums } from "../declared/intervention.ts";
import { built } from "../judged/built.ts";
import { rejected, scored, scorerVersion, standardError } from "../judged/score.ts";
import { isNotScorable, ruleVerdict, verdictFacts, verdictKind } from "../judged/verdict.ts";
import {
  anyText,
  count,
  kindsOf,
  listOf,
  nullable,
  number,
  numberOrNull,
  seed,
  type TypeOf,
  tableOf,
  textOrNull,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { keyParts } from "../stage/action.ts";
import { heldGpus } from "./hardware.ts";
import { attemptMemorisation } from "./memorisation.ts";

export type Seed = TypeOf<typeof seed>;

const missing = wholeObject({ kind: { const: "missing" }, cause: anyText });
const notMeasured = wholeObject({ kind: { const: "not-measured" }, cause: anyText });

const attemptVerdict = kindsOf(
  wholeExcept(["notScorable", "built"], {
    kind: verdictKind,
    machine: { ...verdictKind, description: "the kind without any decision of a person" },
    rules: { ...listOf(ruleVerdict), description: "with the machine's answers" },
    facts: verdictFacts,
    notScorable: isNotScorable,
    built,
  }),
  missing,
);
export type AttemptVerdict = TypeOf<typeof attemptVerdict>;

const attemptScore = kindsOf(
  wholeObject({ ...scored.properties, version: scorerVersion }),
  rejected,
  notMeasured,
);
export type AttemptScore = TypeOf<typeof attemptScore>;

const momentScore = kindsOf(
  wholeObject({ kind: { const: "scored" }, value: number, standardError }),
  rejected,
  notMeasured,
);
export type MomentScore = TypeOf<typeof momentScore>;

const admission = kindsOf(
  wholeObject({ kind: { const: "admitted" } }),
  wholeObject({ kind: { const: "rejected" }, why: anyText }),
  { ...wholeObject({ kind: { const: "none" } }), description: "nothing had been submitted yet" },
  missing,
);

const attemptMoment = {
  ...wholeObject({
    moment: {
      ...anyText,
      description: "its value on the pipeline's axis, e.g. 25%; 100% is the end of the attempt",
    },
    share: number,
    submission: {
      ...textOrNull,
      description: "its digest, also for an empty folder; null if unknown",
    },
    admission,
    scores: tableOf(momentScore),
  }),
  description: "an intermediate checkpoint; only the last one, the final submission, counts",
} as const;
export type AttemptMoment = TypeOf<typeof attemptMoment>;

const foundResearch = wholeExcept(["benchmarkCalls", "labels"], {
  kind: { const: "found" },
  executed: {
    ...count,
    description: "iterations in which a program ran, and something changed or was measured",
  },
  distinctValid: {
    ...nullable(count),
    description: "distinct submissions that are admitted; null: unknown",
  },
  runs,
  limits: { ...listOf(anyText), description: "limits of its budget and its sandbox that it reached" },
  metric: {
    ...textOrNull,
    description: "the metric of most of its iterations; null if none has one",
  },
  predictionError: {
    ...numberOrNull,
    description: "mean of |predicted − value| over `predictions` lines of the agent",
  },
  predictions: count,
  benchmarkCalls: {
    ...benchmarkCalls,
    description: `${benchmarkCalls.description}; absent where the names are not known`,
  },
  lastChange: {
    ...textOrNull,
    description: "the change of its last iteration in its own words; null if unknown",
  },
  ends: {
    ...listOf(end),
    description: "what ended it and what it left, as recorded",
  },
  labels: { ...listOf(label), description: "judgements whose precision is known; absent: none" },
});

const attemptResearch = {
  ...kindsOf(foundResearch, notMeasured),
  description: "found by rules in the trajectory; durations are in times.json",
} as const;
export type AttemptResearch = TypeOf<typeof attemptResearch>;

export const attempt = wholeExcept(
  [
    "condition",
    "budget",
    "origin",
    "weakLimits",
    ...uncheckedNames,
    "gpus",
    "decisions",
    "memorisation",
    "resumed",
    "interventions",
  ],
  {
    task: anyText,
    agent: anyText,
    seed,
    verdict: attemptVerdict,
    submission: { ...textOrNull, description: "the submission's digest; null if there is none" },
    actions: {
      ...textOrNull,
      description: "digest of its sequence of tool calls; null if it made none or they are unknown",
    },
    note: {
      ...anyText,
      description: "a note for its numbers, e.g. that it was accepted as stale; may be empty",
    },
    condition,
    budget: {
      ...keyParts.properties.budget,
      description: "as planned; without a field: no limit; absent if it is not known",
    },
    origin: memberOrigin,
    weakLimits,
    ...uncheckedFields,
    gpus: heldGpus,
    decisions: {
      ...listOf(memberDecision),
      description: "people's decisions on its rules, oldest first; absent if there is none",
    },
    resumed: {
      type: "integer",
      minimum: 1,
      description: "how often it continued after its supervisor or host died; absent if never",
    },
    interventions: interventionSums,
    scores: tableOf(attemptScore),
    research: { ...nullable(attemptResearch), description: "null if the pipeline does not find iterations" },
    memorisation: attemptMemorisation,
    moments: {
      ...listOf(attemptMoment),
      description:
        "intermediate checkpoints in order of their share of the budget, last the final submission; empty if none is planned",
    },
  },
);
export type Attempt = TypeOf<typeof attempt>;
