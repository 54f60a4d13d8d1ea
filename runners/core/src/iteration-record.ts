// What is known of an agent's research after its attempt: its experiments, where it failed, and what can be counted
// of that. A file that programs read, described for them in pipelines/iterations.schema.json.
import type { FailureOwner } from "@mlrb/formats/trajectory";

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

/** The stage of research at which something failed; rules that cannot tell say so. */
export type Where = (typeof stagesOfResearch)[number] | "cannot-tell";

export type Failure = {
  /** Which rule found it, see failure-rules.ts. */
  pattern: string;
  whose: FailureOwner;
  where: Where;
  detail: string;
  /** Indexes of events of the trajectory that show it; bounded. */
  evidence: number[];
};

export type Metric = { name: string; split: string | null; value: number | null };

export type IterationRecord = {
  formatVersion: 1;
  id: string;
  /** An id of an earlier iteration; null also where the agent named none that there is. */
  parent: string | null;
  /** When its last event was seen; ISO, by the supervisor's clock. */
  time: string;
  /** Since the attempt's start. */
  sinceStartMs: number;
  hypothesis: string | null;
  change: string | null;
  command: string | null;
  /** Of source `agent` its claim, of source `rule` what a program printed. */
  metric: Metric | null;
  /** What the agent expected; an extension that its line may carry. */
  predicted: number | null;
  decision: string | null;
  /** The metric's value as a program printed it within this iteration's span; null where none did. */
  measured: number | null;
  cost: { wallMs: number; tokens: number | null; dollars: number | null };
  /** What went wrong in its programs and was not put right within it. */
  failure: Failure | null;
  source: "agent" | "rule";
  /** Whether a program ran, and whether a digest changed: of files the agent edits, or of its submission. */
  executed: boolean;
  changed: boolean;
  /** Both. */
  counts: boolean;
  /** First and last event of its span. */
  events: [number, number];
};

export type ResearchMeasures = {
  /** To the first snapshot of a submission that admission lets through; null: none. */
  firstValidMs: number | null;
  /** `admitted`: judged by admission; `has-a-file`: nobody judged it, so the first that holds anything. */
  firstValidBy: "admitted" | "has-a-file";
  /** Iterations that count, and those that are only claimed. */
  executedIterations: number;
  claimedOnly: number;
  /** The metric of most iterations that count, by what programs printed or the agent claims; null: none has one. */
  metric: { name: string; split: string | null } | null;
  /** Its values in order: claims where there are, else printed. */
  values: { value: number; sinceStartMs: number; predicted: number | null }[];
  /** Mean of |predicted − claimed| over iterations with both. */
  predictionError: number | null;
  predictions: number;
};

export type AttemptIterations = { formatVersion: 1 } & (
  | {
      kind: "found";
      iterations: IterationRecord[];
      /** Beyond the most that are kept. */
      iterationsMore: number;
      /** Lines of the agent that are no iteration. */
      malformedLines: number;
      failures: Failure[];
      /** The one that explains the attempt's end best; null: nothing failed as far as rules can tell. */
      failure: Failure | null;
      measures: ResearchMeasures;
    }
  | { kind: "not-measured"; reason: string }
);
