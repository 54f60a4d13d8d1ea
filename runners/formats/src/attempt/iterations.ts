// The format of iterations.json, an agent's research in an attempt: its experiments, its failures and their counts.

import {
  anyText,
  count,
  fileFormat,
  flag,
  kindsOf,
  kindsWith,
  listOf,
  nullable,
  number,
  numberOrNull,
  oneOf,
  pairOf,
  type TypeOf,
  textOrNull,
  wholeExcept,
  wholeObject,
} from "../schema.ts";
import { failureOwner } from "./failure-owner.ts";

const atLeastNone = { type: ["number", "null"], minimum: 0 } as const;

export const stagesOfResearch = [
  "understand",
  "plan",
  "data",
  "implement",
  "train",
  "evaluate",
  "interpret",
  "decide",
  "submit",
] as const;
const where = oneOf(...stagesOfResearch, "cannot-tell");

const failure = wholeObject({
  pattern: { ...anyText, description: "the rule that found it" },
  whose: failureOwner,
  where: { ...where, description: "the stage of research at which it failed" },
  detail: anyText,
  evidence: { ...listOf(count), description: "indexes of events of the trajectory" },
});

const metric = wholeObject({ name: anyText, split: textOrNull, value: numberOrNull });

const iteration = wholeObject({
  formatVersion: { const: 1 },
  id: anyText,
  parent: {
    ...textOrNull,
    description: "the id of an earlier iteration; null if the agent named none or an unknown one",
  },
  time: { ...anyText, description: "when its last event was seen; ISO, by the supervisor's clock" },
  sinceStartMs: { ...count, description: "since the attempt's start" },
  hypothesis: textOrNull,
  change: textOrNull,
  command: textOrNull,
  metric: {
    ...nullable(metric),
    description: "source agent: its claim; source rule: a value that a program printed",
  },
  predicted: {
    ...numberOrNull,
    description: "the value that the agent expected; optional in its line",
  },
  decision: textOrNull,
  measured: { ...numberOrNull, description: "the metric as a program printed it within the iteration" },
  cost: wholeObject({ wallMs: count, tokens: numberOrNull, dollars: numberOrNull }),
  failure: {
    ...nullable(failure),
    description: "a failure of its programs that was not repaired within the iteration",
  },
  source: { ...oneOf("agent", "rule"), description: "agent: from the agent's own line, a claim" },
  executed: { ...flag, description: "whether a program ran" },
  changed: {
    ...flag,
    description: "whether the agent's files or its submission changed",
  },
  counts: { ...flag, description: "a program ran and a digest changed" },
  events: {
    ...pairOf(count),
    description: "index of its first and last event",
  },
});

/** Also part of the report. */
export const runs = {
  ...wholeObject({
    ended: count,
    failed: { ...count, description: "ended with an error or a signal" },
    evaluations: { ...count, description: "succeeded, and evaluate by their command line or print a metric" },
    outOfMemory: {
      ...count,
      description: "whose output reports a lack of memory, or that a memory limit ended",
    },
  }),
  description:
    "programs that the agent ran, by its tool calls; a program that is the whole agent counts once",
} as const;

/** Also part of the report. */
export const benchmarkCalls = {
  ...kindsOf(
    wholeObject({
      kind: { const: "counted" },
      calls: { ...count, description: "tool calls whose arguments hold one of the names" },
      names: { ...listOf(anyText), description: "the names that they hold" },
    }),
    wholeObject({
      kind: { const: "not-measured" },
      reason: {
        ...oneOf("no-tool-calls", "no-public-names"),
        description: "no tool call is recorded; or the task's benchmark has no public names",
      },
    }),
  ),
  description: "tool calls that name the scored benchmark, by publicNames of task.yaml",
} as const;

const measures = wholeExcept(["benchmarkCalls"], {
  firstValidMs: {
    ...atLeastNone,
    description: "until the first snapshot of a submission that is admitted; null: none",
  },
  firstValidBy: {
    ...oneOf("admitted", "has-a-file"),
    description: "admitted: judged by admission; has-a-file: not judged, so the first snapshot with a file",
  },
  distinctValid: {
    ...nullable(count),
    description:
      "distinct submissions that are admitted, of the kept snapshots and the final one, by the digest of the folder; null: not judged",
  },
  runs,
  limits: {
    ...listOf(anyText),
    description:
      "limits that it reached: time, token, dollar or turn of its budget; memory, disk or processes",
  },
  executedIterations: { ...count, description: "iterations that count" },
  claimedOnly: count,
  metric: {
    ...nullable(wholeObject({ name: anyText, split: textOrNull })),
    description: "the metric of most iterations that count; null: none has one",
  },
  values: {
    ...listOf(wholeObject({ value: number, sinceStartMs: count, predicted: numberOrNull })),
    description: "its values in order: claimed ones if any, else printed ones",
  },
  predictionError: {
    ...atLeastNone,
    description: "mean of |predicted − claimed| over iterations with both",
  },
  predictions: count,
  benchmarkCalls: {
    ...benchmarkCalls,
    description: `${benchmarkCalls.description}; absent where the names are not known`,
  },
});

export const iterationsFile = fileFormat(
  "mlrb iterations of an attempt",
  kindsWith(
    { formatVersion: { const: 1 } },
    wholeExcept(["actions"], {
      kind: { const: "found" },
      actions: {
        ...textOrNull,
        description: "sha256 of its tool calls in order, without their ids; null if there is none",
      },
      iterations: listOf(iteration),
      iterationsMore: { ...count, description: "more than are kept" },
      malformedLines: { ...count, description: "lines of the agent that are not iterations" },
      failures: listOf(failure),
      failure: {
        ...nullable(failure),
        description: "the failure that best explains the attempt's end; null: the rules found none",
      },
      measures,
    }),
    wholeObject({ kind: { const: "not-measured" }, reason: anyText }),
  ),
);

export type IterationsFile = TypeOf<typeof iterationsFile>;
export type IterationRecord = TypeOf<typeof iteration>;
export type BenchmarkCalls = TypeOf<typeof benchmarkCalls>;
export type ResearchMeasures = TypeOf<typeof measures>;
export type Failure = TypeOf<typeof failure>;
export type IterationMetric = TypeOf<typeof metric>;
export type Where = TypeOf<typeof where>;
