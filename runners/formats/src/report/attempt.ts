// An attempt in report.json: its verdict, its scores, its research and what stood at moments of its budget.

import { rejected, scored, scorerVersion, standardError } from "../judged/score.ts";
import { judgement } from "../judged/verdict.ts";
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
  wholeObject,
} from "../schema.ts";

export type Seed = TypeOf<typeof seed>;

const missing = wholeObject({ kind: { const: "missing" }, cause: anyText });
const notMeasured = wholeObject({ kind: { const: "not-measured" }, cause: anyText });

const attemptVerdict = kindsOf({}, [], [wholeObject(judgement), missing]);
export type AttemptVerdict = TypeOf<typeof attemptVerdict>;

const attemptScore = kindsOf(
  {},
  [],
  [wholeObject({ ...scored.properties, version: scorerVersion }), rejected, notMeasured],
);
export type AttemptScore = TypeOf<typeof attemptScore>;

const momentScore = kindsOf(
  {},
  [],
  [wholeObject({ kind: { const: "scored" }, value: number, standardError }), rejected, notMeasured],
);
export type MomentScore = TypeOf<typeof momentScore>;

const admission = kindsOf(
  {},
  [],
  [
    wholeObject({ kind: { const: "admitted" } }),
    wholeObject({ kind: { const: "rejected" }, why: anyText }),
    { ...wholeObject({ kind: { const: "none" } }), description: "nothing had been put there yet" },
    missing,
  ],
);

const attemptMoment = {
  ...wholeObject({
    moment: {
      ...anyText,
      description: "as the pipeline's axis names it, e.g. 25%; 100% is the end, whenever that was",
    },
    share: number,
    submission: {
      ...textOrNull,
      description: "its digest, also of an empty folder; null where it is not known",
    },
    admission,
    scores: tableOf(momentScore),
  }),
  description: "the submission as it stood at a moment; only the last one, what was submitted, counts",
} as const;
export type AttemptMoment = TypeOf<typeof attemptMoment>;

const researchFailure = wholeObject({
  pattern: anyText,
  whose: anyText,
  where: anyText,
  detail: anyText,
});
export type ResearchFailure = TypeOf<typeof researchFailure>;

const attemptResearch = {
  ...kindsOf(
    {},
    [],
    [
      wholeObject({
        kind: { const: "found" },
        executed: { ...count, description: "iterations in which a program ran and a digest changed" },
        claimedOnly: { ...count, description: "iterations that are only claimed" },
        metric: {
          ...textOrNull,
          description: "the metric of most of its iterations; null where none has one",
        },
        said: { ...numberOrNull, description: "its last value, by the agent" },
        saidMinusMeasured: {
          ...numberOrNull,
          description: "less the score, where a scorer has the metric's name",
        },
        bestMinusFinal: {
          ...numberOrNull,
          description:
            "of what it said; 0 where the last was the best, null where nobody can tell which way is better",
        },
        predictionError: {
          ...numberOrNull,
          description: "mean of |predicted − said| over `predictions` iterations",
        },
        predictions: count,
        failure: nullable(researchFailure),
      }),
      notMeasured,
    ],
  ),
  description: "by rules over the trajectory; durations are in times.json",
} as const;
export type AttemptResearch = TypeOf<typeof attemptResearch>;

export const attempt = wholeObject({
  task: anyText,
  agent: anyText,
  seed,
  verdict: attemptVerdict,
  submission: { ...textOrNull, description: "the submission's digest; null where there is none" },
  note: {
    ...anyText,
    description:
      "what must be said beside its numbers, e.g. that it was accepted as stale; empty where nothing must",
  },
  scores: tableOf(attemptScore),
  research: { ...nullable(attemptResearch), description: "null where the pipeline finds no iterations" },
  moments: {
    ...listOf(attemptMoment),
    description:
      "as it stood at shares of the budget, in their order, and last what was submitted; empty where none is planned",
  },
});
export type Attempt = TypeOf<typeof attempt>;
