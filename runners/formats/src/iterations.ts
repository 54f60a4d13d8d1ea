// The format of iterations.json: what is known of an agent's research after its attempt: its experiments, where it
// failed, and what can be counted of that.
import { failureOwner } from "./failure-owner.ts";
import {
  anyText,
  closedWholeObject,
  count,
  fileFormat,
  flag,
  listOf,
  nullable,
  oneOf,
  type TypeOf,
} from "./schema.ts";

const maybeText = { type: ["string", "null"] } as const;
const number = { type: "number" } as const;
const maybeNumber = { type: ["number", "null"] } as const;

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

const failure = closedWholeObject({
  pattern: { ...anyText, description: "the rule that found it" },
  whose: failureOwner,
  where: { ...where, description: "the stage of research at which it failed; rules that cannot tell say so" },
  detail: anyText,
  evidence: { ...listOf(count), description: "indexes of events of the trajectory" },
});

const metric = closedWholeObject({ name: anyText, split: maybeText, value: maybeNumber });

const iteration = closedWholeObject({
  formatVersion: { const: 1 },
  id: anyText,
  parent: {
    ...maybeText,
    description: "an id of an earlier iteration; null also where the agent named none that there is",
  },
  time: { ...anyText, description: "when its last event was seen; ISO, by the supervisor's clock" },
  sinceStartMs: { ...count, description: "since the attempt's start" },
  hypothesis: maybeText,
  change: maybeText,
  command: maybeText,
  metric: {
    ...nullable(metric),
    description: "of source agent its claim, of source rule what a program printed",
  },
  predicted: {
    ...maybeNumber,
    description: "what the agent expected; an extension that its line may carry",
  },
  decision: maybeText,
  measured: { ...maybeNumber, description: "the metric as a program printed it within the iteration" },
  cost: closedWholeObject({ wallMs: count, tokens: maybeNumber, dollars: maybeNumber }),
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
    type: "array",
    items: [count, count],
    minItems: 2,
    maxItems: 2,
    additionalItems: false,
    description: "first and last of its span",
  },
});

const measures = closedWholeObject({
  firstValidMs: {
    ...maybeNumber,
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
    ...nullable(closedWholeObject({ name: anyText, split: maybeText })),
    description:
      "of most iterations that count, by what programs printed or the agent claims; null: none has one",
  },
  values: {
    ...listOf(closedWholeObject({ value: number, sinceStartMs: count, predicted: maybeNumber })),
    description: "its values in order: claims where there are, else printed",
  },
  predictionError: {
    ...maybeNumber,
    description: "mean of |predicted − claimed| over iterations with both",
  },
  predictions: count,
});

export const iterationsFile = fileFormat("mlrb iterations of an attempt", {
  oneOf: [
    closedWholeObject({
      formatVersion: { const: 1 },
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
    closedWholeObject({ formatVersion: { const: 1 }, kind: { const: "not-measured" }, reason: anyText }),
  ],
});

export type IterationsFile = TypeOf<typeof iterationsFile>;
export type IterationRecord = TypeOf<typeof iteration>;
export type ResearchMeasures = TypeOf<typeof measures>;
export type Failure = TypeOf<typeof failure>;
export type Metric = TypeOf<typeof metric>;
/** The stage of research at which something failed; rules that cannot tell say so. */
export type Where = TypeOf<typeof where>;
