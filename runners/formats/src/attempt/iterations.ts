// The format of iterations.json, an agent's research in an attempt: its experiments, what it measured and how it ended.

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

const atLeastNone = { type: ["number", "null"], minimum: 0 } as const;

/** Also part of the report. */
export const end = wholeObject({
  kind: oneOf(
    "limit",
    "crash",
    "call-given-up",
    "refusal",
    "gave-up",
    "silent",
    "sandbox-lost",
    "no-submission",
    "not-admitted",
  ),
  detail: anyText,
  evidence: { ...listOf(count), description: "indexes of events of the trajectory" },
});

/** Also part of the report. */
export const label = wholeObject({
  name: anyText,
  detail: anyText,
  precision: {
    ...nullable(wholeObject({ right: count, of: count })),
    description:
      "of its uses on trajectories that were not used to write it, how many were right; null: not measured, so it is not printed",
  },
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
    description: "source agent: as its line says; source rule: a value that a program measured",
  },
  predicted: {
    ...numberOrNull,
    description: "the value that the agent expected; optional in its line",
  },
  decision: textOrNull,
  cost: wholeObject({ wallMs: count, tokens: numberOrNull, dollars: numberOrNull }),
  source: { ...oneOf("agent", "rule"), description: "agent: from the agent's own line" },
  executed: { ...flag, description: "whether a program ran" },
  changed: {
    ...flag,
    description: "whether the agent's files or its submission changed",
  },
  counts: { ...flag, description: "a program ran, and something changed or was measured" },
  events: {
    ...pairOf(count),
    description: "index of its first and last event",
  },
});

/** Also part of the report. */
export const runs = {
  ...wholeObject({
    ended: count,
    failed: { ...count, description: "ended with an exit code other than 0 or a signal" },
    measured: {
      ...count,
      description:
        "succeeded and printed results in JSON, in a dictionary of Trainer or in a table of lm_eval",
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
  metric: {
    ...nullable(wholeObject({ name: anyText, split: textOrNull })),
    description: "the metric of most iterations that count; null: none has one",
  },
  values: {
    ...listOf(wholeObject({ value: number, sinceStartMs: count, predicted: numberOrNull })),
    description: "its values in order: of the agent's lines if any, else measured ones",
  },
  predictionError: {
    ...atLeastNone,
    description: "mean of |predicted − value| over the agent's lines with both",
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
    wholeExcept(["actions", "labels"], {
      kind: { const: "found" },
      actions: {
        ...textOrNull,
        description: "sha256 of its tool calls in order, without their ids; null if there is none",
      },
      iterations: listOf(iteration),
      iterationsMore: { ...count, description: "more than are kept" },
      malformedLines: { ...count, description: "lines of the agent that are not iterations" },
      ends: { ...listOf(end), description: "what ended it and what it left, as recorded" },
      labels: { ...listOf(label), description: "judgements; none are made yet" },
      measures,
    }),
    wholeObject({ kind: { const: "not-measured" }, reason: anyText }),
  ),
);

export type IterationsFile = TypeOf<typeof iterationsFile>;
export type IterationRecord = TypeOf<typeof iteration>;
export type BenchmarkCalls = TypeOf<typeof benchmarkCalls>;
export type ResearchMeasures = TypeOf<typeof measures>;
export type AttemptEnd = TypeOf<typeof end>;
export type AttemptLabel = TypeOf<typeof label>;
export type IterationMetric = TypeOf<typeof metric>;
