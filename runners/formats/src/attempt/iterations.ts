// The format of iterations.json, an agent's research in an attempt: its experiments, what it measured and how it
// ended.

import * as t from "../schema.ts";

const atLeastNone = { type: ["number", "null"], minimum: 0 } as const;

/** Also part of the report. */
export const end = t.wholeObject({
  kind: t.oneOf(
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
  detail: t.anyText,
  evidence: t.about(t.listOf(t.count), "indexes of events of the trajectory"),
});

const metric = t.wholeObject({ name: t.anyText, split: t.textOrNull, value: t.numberOrNull });

const iteration = t.wholeExcept(["member"], {
  formatVersion: { const: 1 },
  id: t.about(t.anyText, "unique in the attempt; of a member of a team MEMBER/id"),
  member: t.about(t.anyText, "the member of a team that made it; absent for other agents"),
  parent: t.about(
    t.textOrNull,
    "the id of an earlier iteration; null if the agent named none or an unknown one",
  ),
  time: t.about(t.anyText, "when its last event was seen; ISO, by the supervisor's clock"),
  sinceStartMs: t.about(t.count, "since the attempt's start"),
  hypothesis: t.textOrNull,
  change: t.textOrNull,
  command: t.textOrNull,
  metric: t.about(
    t.nullable(metric),
    "source agent: as its line says; source rule: a value that a program measured",
  ),
  predicted: t.about(t.numberOrNull, "the value that the agent expected; optional in its line"),
  decision: t.textOrNull,
  cost: t.wholeObject({ wallMs: t.count, tokens: t.numberOrNull, dollars: t.numberOrNull }),
  source: t.about(t.oneOf("agent", "rule"), "agent: from the agent's own line"),
  executed: t.about(t.flag, "whether a program ran"),
  changed: t.about(t.flag, "whether the agent's files or its submission changed"),
  counts: t.about(t.flag, "a program ran, and something changed or was measured"),
  events: t.about(t.pairOf(t.count), "index of its first and last event"),
});

/** Also part of the report. */
export const runs = t.about(
  t.wholeObject({
    ended: t.count,
    failed: t.about(t.count, "ended with an exit code other than 0 or a signal"),
    measured: t.about(
      t.count,
      "succeeded and printed results in JSON, in a dictionary of Trainer or in a table of lm_eval",
    ),
  }),
  "programs that the agent ran, by its tool calls; a program that is the whole agent counts once",
);

/** Also part of the report. */
export const benchmarkCalls = t.about(
  t.kindsOf(
    t.variant("counted", {
      calls: t.about(t.count, "tool calls whose arguments hold one of the names"),
      names: t.about(t.listOf(t.anyText), "the names that they hold"),
    }),
    t.variant("not-measured", {
      reason: t.about(
        t.oneOf("no-tool-calls", "no-public-names"),
        "no tool call is recorded; or the task's benchmark has no public names",
      ),
    }),
  ),
  "tool calls that name the scored benchmark, by publicNames of task.yaml; absent where the names are not known",
);

const timeSpent = t.about(
  t.wholeObject({
    waitMs: t.count,
    modelMs: t.about(t.count, "in model calls, outside of waits"),
    programMs: t.about(t.count, "in programs, outside of waits and model calls"),
  }),
  "parts of the attempt's time by the durations of its events; absent in files of earlier versions",
);

const measures = t.wholeExcept(["benchmarkCalls", "timeSpent"], {
  timeSpent,
  firstValidMs: t.about(atLeastNone, "until the first snapshot of a submission that is admitted; null: none"),
  firstValidBy: t.about(
    t.oneOf("admitted", "has-a-file"),
    "admitted: judged by admission; has-a-file: not judged, so the first snapshot with a file",
  ),
  distinctValid: t.about(
    t.nullable(t.count),
    "distinct submissions that are admitted, of the kept snapshots and the final one, by the digest of the folder; null: not judged",
  ),
  runs,
  limits: t.about(
    t.listOf(t.anyText),
    "limits that it reached: time, token, dollar or turn of its budget; memory, disk or processes",
  ),
  executedIterations: t.about(t.count, "iterations that count"),
  metric: t.about(
    t.nullable(t.wholeObject({ name: t.anyText, split: t.textOrNull })),
    "the metric of most iterations that count; null: none has one",
  ),
  values: t.about(
    t.listOf(t.wholeObject({ value: t.number, sinceStartMs: t.count, predicted: t.numberOrNull })),
    "its values in order: of the agent's lines if any, else measured ones",
  ),
  predictionError: t.about(atLeastNone, "mean of |predicted − value| over the agent's lines with both"),
  predictions: t.count,
  benchmarkCalls,
});

export const iterationsFile = t.fileFormat(
  "mlrb iterations of an attempt",
  t.kindsWith(
    { formatVersion: { const: 1 } },
    t.wholeExcept(["actions"], {
      kind: { const: "found" },
      actions: t.about(
        t.textOrNull,
        "sha256 of its tool calls in order, without their ids; null if there is none",
      ),
      iterations: t.listOf(iteration),
      iterationsMore: t.about(t.count, "more than are kept"),
      malformedLines: t.about(t.count, "lines of the agent that are not iterations"),
      ends: t.about(t.listOf(end), "what ended it and what it left, as recorded"),
      measures,
    }),
    t.variant("not-measured", { reason: t.anyText }),
  ),
);

export type IterationsFile = t.TypeOf<typeof iterationsFile>;
export type IterationRecord = t.TypeOf<typeof iteration>;
export type BenchmarkCalls = t.TypeOf<typeof benchmarkCalls>;
export type ResearchMeasures = t.TypeOf<typeof measures>;
export type TimeSpent = t.TypeOf<typeof timeSpent>;
export type AttemptEnd = t.TypeOf<typeof end>;
export type IterationMetric = t.TypeOf<typeof metric>;
