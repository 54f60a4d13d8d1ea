// The format of iterations.json: what is known of an agent's research after its attempt: its experiments, where it
// failed, and what can be counted of that.

import {
  anyText,
  count,
  fileFormat,
  flag,
  kindsOf,
  listOf,
  nullable,
  number,
  numberOrNull,
  oneOf,
  pairOf,
  type TypeOf,
  textOrNull,
  wholeObject,
} from "../schema.ts";
import { failureOwner } from "./failure-owner.ts";

const atLeastNone = { type: ["number", "null"], minimum: 0 } as const;

const stagesOfResearch = [
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
  where: { ...where, description: "the stage of research at which it failed; rules that cannot tell say so" },
  detail: anyText,
  evidence: { ...listOf(count), description: "indexes of events of the trajectory" },
});

const metric = wholeObject({ name: anyText, split: textOrNull, value: numberOrNull });

const iteration = wholeObject({
  formatVersion: { const: 1 },
  id: anyText,
  parent: {
    ...textOrNull,
    description: "an id of an earlier iteration; null also where the agent named none that there is",
  },
  time: { ...anyText, description: "when its last event was seen; ISO, by the supervisor's clock" },
  sinceStartMs: { ...count, description: "since the attempt's start" },
  hypothesis: textOrNull,
  change: textOrNull,
  command: textOrNull,
  metric: {
    ...nullable(metric),
    description: "of source agent its claim, of source rule what a program printed",
  },
  predicted: {
    ...numberOrNull,
    description: "what the agent expected; an extension that its line may carry",
  },
  decision: textOrNull,
  measured: { ...numberOrNull, description: "the metric as a program printed it within the iteration" },
  cost: wholeObject({ wallMs: count, tokens: numberOrNull, dollars: numberOrNull }),
  failure: {
    ...nullable(failure),
    description: "what went wrong in its programs and was not put right within it",
  },
  source: { ...oneOf("agent", "rule"), description: "agent: its own line, a claim" },
  executed: { ...flag, description: "whether a program ran" },
  changed: {
    ...flag,
    description: "whether a digest changed: of files the agent edits, or of its submission",
  },
  counts: { ...flag, description: "a program ran and a digest changed" },
  events: {
    ...pairOf(count),
    description: "first and last of its span",
  },
});

const measures = wholeObject({
  firstValidMs: {
    ...atLeastNone,
    description: "to the first snapshot of a submission that admission lets through; null: none",
  },
  firstValidBy: {
    ...oneOf("admitted", "has-a-file"),
    description:
      "admitted: judged by admission; has-a-file: nobody judged it, so the first that holds anything",
  },
  executedIterations: { ...count, description: "that count" },
  claimedOnly: count,
  metric: {
    ...nullable(wholeObject({ name: anyText, split: textOrNull })),
    description:
      "of most iterations that count, by what programs printed or the agent claims; null: none has one",
  },
  values: {
    ...listOf(wholeObject({ value: number, sinceStartMs: count, predicted: numberOrNull })),
    description: "its values in order: claims where there are, else printed",
  },
  predictionError: {
    ...atLeastNone,
    description: "mean of |predicted − claimed| over iterations with both",
  },
  predictions: count,
});

export const iterationsFile = fileFormat(
  "mlrb iterations of an attempt",
  kindsOf(
    { formatVersion: { const: 1 } },
    ["formatVersion"],
    [
      wholeObject({
        kind: { const: "found" },
        iterations: listOf(iteration),
        iterationsMore: { ...count, description: "beyond the most that are kept" },
        malformedLines: { ...count, description: "lines of the agent that are no iteration" },
        failures: listOf(failure),
        failure: {
          ...nullable(failure),
          description:
            "the one that explains the attempt's end best; null: nothing failed as far as rules can tell",
        },
        measures,
      }),
      wholeObject({ kind: { const: "not-measured" }, reason: anyText }),
    ],
  ),
);

export type IterationsFile = TypeOf<typeof iterationsFile>;
export type IterationRecord = TypeOf<typeof iteration>;
export type ResearchMeasures = TypeOf<typeof measures>;
export type Failure = TypeOf<typeof failure>;
export type IterationMetric = TypeOf<typeof metric>;
/** The stage of research at which something failed; rules that cannot tell say so. */
export type Where = TypeOf<typeof where>;
