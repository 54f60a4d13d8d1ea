// What the page is drawn from: the report, and what is known of the run behind it. The report's own bytes do
// not depend on clocks and machines; when, where and for how long stands only here.

import type { Report } from "@mlrb/formats/report";
import type { Seed } from "@mlrb/formats/report/attempt";
import type { Ran } from "@mlrb/formats/stage/action";
import type { Times } from "@mlrb/formats/times";
import type { BudgetPart } from "../story/budget-parts.ts";
import type { StoryFailure } from "../story/story-failures.ts";

export type PageData = {
  report: Report;
  /** What the attempts took; null where the pipeline gives none. */
  times: Times | null;
  plan: { pipeline: string; profile: string; selection: string };
  /** The declared stages and what goes between them, as SVG that Graphviz made. */
  graph: string;
  /** Every planned stage instance, in the plan's order, with environments left out. */
  instances: PageInstance[];
  trajectories: PageTrajectory[];
};

export type PageInstance = {
  id: string;
  /** The declared stage's name. */
  stage: string;
  /** What the pipeline says that the stage is for. */
  role?: string;
  axes: Record<string, Seed>;
  outcome: PageOutcome;
  /** Why it ran when it last did, in words; empty where no journal tells. */
  reasons: string[];
  /** What its last success was made of; null where nothing is kept of one. */
  made: Made | null;
  /** The last lines that it wrote. */
  said: string[];
};

/** As it last ended; unknown where neither a journal nor the cache tells. */
export type PageOutcome =
  | { kind: "succeeded" | "unknown" }
  | { kind: "failed" | "skipped" | "cancelled"; cause: string };

export type Made = {
  key: string;
  /** Digest of the attempt's record, for an attempt. */
  record: string | null;
  /** The script, or the command. */
  script: string;
  params: { name: string; value: string }[];
  files: { path: string; digest: string }[];
  inputs: { name: string; digest: string; from: string; output: string }[];
  outputs: { name: string; digest: string }[];
  environment: string | null;
  ran: Ran;
  /** What one types to have it made again where it would be now. */
  again: string;
};

/** What an attempt's supervisor wrote down, or why that cannot be read. */
export type PageTrajectory = { task: string; agent: string; seed: Seed } & (
  | {
      kind: "read";
      /** Lines of the whole trajectory; null where its ledger cannot be read. */
      lines: number | null;
      /** Some of them, in order; `skippedBefore` says that lines before it are left out. */
      events: PageEvent[];
      /** Of its budget, by its ledger; empty where that cannot be read. */
      budget: BudgetPart[];
      /** In what was read of it. */
      failures: StoryFailure[];
      /** Whether its middle was not read. */
      partly: boolean;
    }
  | { kind: "unreadable"; cause: string }
);

export type PageEvent = {
  /** Since the agent's start. */
  sinceStartMs: number | null;
  event: string;
  text: string;
  skippedBefore: boolean;
};
