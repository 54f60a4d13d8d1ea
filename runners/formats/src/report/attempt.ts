// An attempt in report.json: its verdict, scores, research and intermediate checkpoints.

import { condition } from "../attempt/condition.ts";
import { benchmarkCalls, end, runs } from "../attempt/iterations.ts";
import { replayFacts } from "../attempt/ledger.ts";
import { built } from "../judged/built.ts";
import { rejected, scored, scorerVersion, standardError } from "../judged/score.ts";
import { isNotScorable, ruleVerdict, verdictFacts, verdictKind } from "../judged/verdict.ts";
import * as t from "../schema.ts";
import { keyParts } from "../stage/action.ts";
import { recordFactNames, recordFacts } from "../stage/collected.ts";
import { attemptMemorisation } from "./memorisation.ts";
import { attemptOverlap } from "./overlap.ts";

export type Seed = t.TypeOf<typeof t.seed>;

const missing = t.variant("missing", { cause: t.anyText });
const notMeasured = t.variant("not-measured", { cause: t.anyText });

const attemptVerdict = t.kindsOf(
  t.wholeExcept(["notScorable", "built"], {
    kind: verdictKind,
    machine: t.about(verdictKind, "the kind without any decision of a person"),
    rules: t.about(t.listOf(ruleVerdict), "with the machine's answers"),
    facts: verdictFacts,
    notScorable: isNotScorable,
    built,
  }),
  missing,
);
export type AttemptVerdict = t.TypeOf<typeof attemptVerdict>;

const attemptScore = t.kindsOf(
  t.wholeObject({ ...scored.properties, version: scorerVersion }),
  rejected,
  notMeasured,
);
export type AttemptScore = t.TypeOf<typeof attemptScore>;

const checkpointScore = t.kindsOf(
  t.variant("scored", { value: t.number, standardError }),
  rejected,
  notMeasured,
);
export type CheckpointScore = t.TypeOf<typeof checkpointScore>;

const admission = t.kindsOf(
  t.variant("admitted"),
  t.variant("rejected", { why: t.anyText }),
  t.about(t.variant("none"), "nothing had been submitted yet"),
  missing,
);

const attemptCheckpoint = t.about(
  t.wholeObject({
    checkpoint: t.about(
      t.anyText,
      "its value on the pipeline's axis, e.g. 25%; 100% is the end of the attempt",
    ),
    share: t.number,
    submission: t.about(t.textOrNull, "its digest, also for an empty folder; null if unknown"),
    admission,
    scores: t.tableOf(checkpointScore),
  }),
  "an intermediate checkpoint; only the last one, the final submission, counts",
);
export type AttemptCheckpoint = t.TypeOf<typeof attemptCheckpoint>;

const foundResearch = t.wholeExcept(["benchmarkCalls"], {
  kind: { const: "found" },
  executed: t.about(t.count, "iterations in which a program ran, and something changed or was measured"),
  distinctValid: t.about(t.nullable(t.count), "distinct submissions that are admitted; null: unknown"),
  runs,
  limits: t.about(t.listOf(t.anyText), "limits of its budget and its sandbox that it reached"),
  metric: t.about(t.textOrNull, "the metric of most of its iterations; null if none has one"),
  predictionError: t.about(
    t.numberOrNull,
    "mean of |predicted − value| over `predictions` lines of the agent",
  ),
  predictions: t.count,
  benchmarkCalls,
  lastChange: t.about(t.textOrNull, "the change of its last iteration in its own words; null if unknown"),
  ends: t.about(t.listOf(end), "what ended it and what it left, as recorded"),
});

const attemptResearch = t.about(
  t.kindsOf(foundResearch, notMeasured),
  "found by rules in the trajectory; durations are in times.json",
);
export type AttemptResearch = t.TypeOf<typeof attemptResearch>;

export const attempt = t.wholeExcept(
  ["condition", "replay", "budget", ...recordFactNames, "memorisation", "overlap", "marks"],
  {
    task: t.anyText,
    agent: t.anyText,
    seed: t.seed,
    verdict: attemptVerdict,
    submission: t.about(t.textOrNull, "the submission's digest; null if there is none"),
    actions: t.about(
      t.textOrNull,
      "digest of its sequence of tool calls; null if it made none or they are unknown",
    ),
    note: t.about(t.anyText, "a note for its numbers, e.g. that it was accepted as stale; may be empty"),
    condition,
    replay: replayFacts,
    budget: t.about(
      keyParts.properties.budget,
      "as planned; without a field: no limit; absent if it is not known",
    ),
    ...recordFacts,
    scores: t.tableOf(attemptScore),
    research: t.about(t.nullable(attemptResearch), "null if the pipeline does not find iterations"),
    memorisation: attemptMemorisation,
    overlap: attemptOverlap,
    marks: t.about(
      t.listOf(t.wholeObject({ judge: t.text, questions: t.listOf(t.text) })),
      "the questions, as RUBRIC.QUESTION, whose answer marks it for a person, by judge, after decisions of people; they change no primary number. Absent or empty: none",
    ),
    checkpoints: t.about(
      t.listOf(attemptCheckpoint),
      "intermediate checkpoints in order of their share of the budget, last the final submission; empty if none is planned",
    ),
  },
);
export type Attempt = t.TypeOf<typeof attempt>;
