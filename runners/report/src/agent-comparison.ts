// What is said of two agents over all tasks, as data: one primary test, what single tasks can tell, the test
// of pairs where there are real ones, and what a run of this size could have found.
import type { DetectableSuperiority } from "@mlrb/core/statistics/permutation-power";
import type { Tested } from "@mlrb/core/statistics/permutation-test";

/** Everywhere the first of `agents` is A; P(A is better than B) is over 0.5 where the first does better. */
export type AgentComparison = {
  agents: [string, string];
  /** Tasks that take no part, and why. */
  leftOut: { task: string; why: string }[];
  /** Where valid attempts of an agent handed in equal submissions: no independent ones, so p may be too small. */
  equalSubmissions: { task: string; agent: string }[];
  /**
   * The primary test: labels permuted within tasks, over the counted values of each task's primary metric.
   * `statistic` is the mean over tasks of P(A is better than B), ties half.
   */
  overall: ({ kind: "tested"; statistic: number; tasks: number } & Tested) | { kind: "untestable" };
  /** The same test of each task alone, adjusted by Holm over these tasks. */
  tasks: TaskComparison[];
  pairs: PairedComparison;
  design: ComparisonDesign;
};

export type TaskComparison = {
  task: string;
  metric: string;
  attempts: [number, number];
  superiority: number;
  /** The smallest p that these values could have under any labels, before Holm. */
  pMin: number;
} & ({ kind: "tested"; p: number } | { kind: "too-few" });

/** The sign-flip test, where attempts with one seed are pairs by what the agents are. */
export type PairedComparison =
  | ({
      kind: "tested";
      /** The mean over tasks of the share of pairs in which A is better, ties half. */
      statistic: number;
      /** Pairs of the same two submissions count as one. */
      pairs: number;
      tasks: number;
    } & Tested)
  | { kind: "not-paired"; why: string };

/** What this many attempts could find with power 0.8 at level 0.05, as planned, whatever came of it. */
export type ComparisonDesign = {
  tasks: number;
  /** Of each agent at a task; the fewest of all tasks where they differ. */
  attempts: [number, number];
  /** All tasks taken together. */
  together: Detectable;
  /** One task, as the first under Holm's correction for all of them. */
  first: Detectable;
} | null;

export type Detectable = DetectableSuperiority | { kind: "too-large-to-compute" };
