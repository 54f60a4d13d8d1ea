// The report as data: what report.json holds and every renderer reads. Absent numbers are null beside a
// reason; NaN and 0 never stand for "not known".
import type { IntentionToTreat } from "@mlrb/core/statistics/intention-to-treat";
import type { AcrossTasks } from "./across-tasks.ts";
import type { AgentComparison } from "./agent-comparison.ts";
import type { ResearchFailure } from "./parse-research.ts";

/**
 * 2: cells say why a mean or an interval is withheld and hold their two errors; agentComparisons.
 * 3: anchors, normalised scores and published values; acrossTasks; intervals are cut to the metric's range.
 * 4: moments of attempts; what research each attempt was.
 */
export const reportFormat = 4;

export type Report = {
  formatVersion: typeof reportFormat;
  title: string;
  /** The data the numbers come from, e.g. `smoke` or `official`. */
  label: string;
  smoke: boolean;
  /** What a reader of smoke numbers must know; empty otherwise. */
  note: string;
  tasks: { name: string; title: string; primary: string | null }[];
  agents: { name: string; title: string }[];
  metrics: Metric[];
  coverage: Coverage;
  /** One per planned task, agent and seed. */
  attempts: Attempt[];
  /** One per task, agent and metric. */
  cells: Cell[];
  /** Floors and anchors, one per task, metric and row. */
  rows: Row[];
  /** The agents' submissions on the same items: one per task, metric and pair of agents. */
  /** What others published on the same data, by task and metric; nothing unless the data is official. */
  published: Published[];
  /** Normalised scores of the primary metrics over tasks. */
  acrossTasks: AcrossTasks;
  comparisons: Comparison[];
  /** The agents over all tasks, attempts being the unit: one per pair of agents. */
  agentComparisons: AgentComparison[];
};

export type Direction = "higher" | "lower";
export type Seed = string | number;

/** A metric is a scorer's value and carries the scorer's name. */
export type Metric = {
  name: string;
  title: string;
  unit: string;
  direction: Direction;
  digits: number;
  /** The least and the most that it can be, null for no most; null where scorer.yaml does not say. */
  range: [number, number | null] | null;
};

export type Coverage = {
  attempts: { planned: number; pass: number; struck: number; rejected: number; missing: number };
  scores: { planned: number; scored: number; rejected: number; notMeasured: number };
  agents: AgentCoverage[];
  /** Planned work that gave nothing readable, and why. */
  gaps: { stage: string; outcome: string; cause: string }[];
};

export type AgentCoverage = {
  agent: string;
  planned: number;
  /** Attempts that kept the rules, of those whose verdict is known. */
  pass: number;
  judged: number;
  /** Wilson's 95 % interval of pass / judged; null where nothing was judged. */
  passInterval: [number, number] | null;
};

export type Attempt = {
  task: string;
  agent: string;
  seed: Seed;
  verdict: AttemptVerdict;
  /** The submission's digest; null where there is none. */
  submission: string | null;
  /** What must be said beside its numbers, e.g. that it was accepted as stale; empty where nothing must. */
  note: string;
  scores: Record<string, AttemptScore>;
  /** Null where the pipeline finds no iterations. */
  research: AttemptResearch | null;
  /** As it stood at shares of the budget, in their order, and last what was handed in; empty where none is planned. */
  moments: Moment[];
};

/** The submission as it stood at a moment. Only the last one, what was handed in, counts. */
export type Moment = {
  /** As the pipeline's axis names it, e.g. `25%`; `100%` is the end, whenever that was. */
  moment: string;
  share: number;
  /** Its digest, also of an empty folder; null where it is not known. */
  submission: string | null;
  admission:
    | { kind: "admitted" }
    | { kind: "rejected"; why: string }
    /** Nothing had been put there yet. */
    | { kind: "none" }
    | { kind: "missing"; cause: string };
  scores: Record<string, MomentScore>;
};

export type MomentScore =
  | { kind: "scored"; value: number; standardError: number }
  | Exclude<AttemptScore, { kind: "scored" }>;

/** By rules over the trajectory; durations stand in times.json. */
export type AttemptResearch =
  | {
      kind: "found";
      /** Iterations in which a program ran and a digest changed, and those that are only claimed. */
      executed: number;
      claimedOnly: number;
      /** The metric of most of its iterations; null where none has one. */
      metric: string | null;
      /** Its last value, by the agent. */
      said: number | null;
      /** Less the score, where a scorer has the metric's name. */
      saidMinusMeasured: number | null;
      /** Of what it said; 0 where the last was the best, null where nobody can tell which way is better. */
      bestMinusFinal: number | null;
      /** Mean of |predicted − said| over `predictions` iterations. */
      predictionError: number | null;
      predictions: number;
      failure: ResearchFailure | null;
    }
  | { kind: "not-measured"; cause: string };

export type AttemptVerdict =
  | { kind: "pass" | "struck" | "rejected"; rules: Rule[]; facts: Record<string, string | number> }
  | { kind: "missing"; cause: string };

export type Rule = {
  rule: string;
  title: string;
  answer: "pass" | "fail" | "cannot-tell";
  evidence: string;
  source: string;
  severity: "strike" | "note";
};

export type AttemptScore =
  | {
      kind: "scored";
      value: number;
      /** Over items, never over attempts. */
      standardError: number;
      items: number;
      groups: Record<string, { value: number; items: number }>;
      extra: Record<string, number>;
      version: number;
    }
  | { kind: "rejected"; reason: string }
  | { kind: "not-measured"; cause: string };

export type Cell = {
  task: string;
  agent: string;
  metric: string;
  /** Whether the task is decided on this metric. */
  primary: boolean;
  direction: Direction;
  unit: string;
  seeds: Seed[];
  /** The score per planned seed as measured, struck ones too; null where there is none. */
  values: (number | null)[];
  /** What enters the mean per planned seed: the value, the floor, or null for a missing attempt. */
  counted: (number | null)[];
  /** Intention to treat: over all attempts that are not missing, those that failed counting as the floor. */
  mean: number | null;
  /** Why there is no mean; null where there is one. */
  meanWithheld: Why<IntentionToTreat["mean"]> | null;
  /** Student-t, 95 %, over attempts, cut to the metric's range. */
  interval: [number, number] | null;
  /** Which ends were cut; null where there is no interval. */
  intervalCut: { low: boolean; high: boolean } | null;
  intervalWithheld: Why<IntentionToTreat["interval"]> | null;
  /** Attempts that are not missing. */
  measured: number;
  planned: number;
  struck: number;
  rejected: number;
  /** Mean over attempts that kept the rules and were scored. */
  validMean: number | null;
  validN: number;
  /** Of the valid attempts; two things, never added up. */
  errors: {
    /** Sample standard deviation of the attempts' values; null for fewer than two. */
    betweenAttempts: number | null;
    /** Standard error of the valid mean over items, for these very submissions. */
    overItems: number | null;
    /** From the items of all attempts together, or, where these cannot be combined, an upper bound. */
    overItemsIs: "exact" | "at-most" | null;
  };
  floor: number | null;
  /** The anchors row that the floor is; null where task.yaml gives a number or nothing. */
  floorName: string | null;
  /** The value of the anchors row `anchorName`; null where there is none or it has no number. */
  anchor: number | null;
  /** The row that task.yaml names; null where it names none. */
  anchorName: string | null;
  /** `counted` with the floor at 0 and the anchor at 1, not clipped; null where `normalisedWithheld` says why. */
  normalised: (number | null)[];
  /** Of `normalised`; null where there is no mean. */
  normalisedMean: number | null;
  /** Why there is no scale from floor to anchor, in words; null where there is one. */
  normalisedWithheld: string | null;
  /** Why a number is missing or must be read with care. */
  notes: string[];
};

export type Published = {
  task: string;
  metric: string;
  who: string;
  value: number;
  /** Runs that it is of; null where its source gives none. */
  n: number | null;
  /** What it is of those runs; empty where there is nothing to say. */
  note: string;
  source: string;
};

type Why<T> = Extract<T, { why: unknown }>["why"];

export type Row = {
  task: string;
  metric: string;
  name: string;
  title: string;
  floor: boolean;
  /** Whether it is the anchor that is 1 on the normalised scale. */
  anchor: boolean;
  /** Where each agent's mean stands to this row. `by` is at least 0, in the metric's unit. */
  standings: Standing[];
} & RowValue;

/** What a row measures, or why the model behind it was rejected, in which case it is no number at all. */
export type RowValue =
  | { value: number; standardError: number | null; rejected: null }
  | { value: null; standardError: null; rejected: string };

export type Standing =
  | { agent: string; kind: "better" | "worse"; by: number }
  | { agent: string; kind: "level" }
  | { agent: string; kind: "unknown" };

export type Comparison = { task: string; metric: string; agents: [string, string] } & (
  | {
      kind: "compared";
      /** The first agent's score minus the second's, averaged over `seeds`. */
      difference: number;
      /** Over items of these submissions, not over attempts; null for a single item. */
      standardError: number | null;
      /** The same with the items' groups as clusters; null where items have none. */
      clusteredStandardError: number | null;
      clusters: number | null;
      items: number;
      seeds: Seed[];
      leftOut: { seed: Seed; why: string }[];
      /** The agent that does better; null where they are level. */
      better: string | null;
      /** Whether the difference is over two of the larger standard error; null where there is none. */
      clear: boolean | null;
    }
  | { kind: "not-compared"; why: string }
);
