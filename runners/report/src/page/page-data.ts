// The data of the page: the report and its run. The report's own bytes do not depend on clocks and machines, so
// times and places are only here.

import type { IterationRecord } from "@mlrb/formats/attempt/iterations";
import type { LedgerMember } from "@mlrb/formats/attempt/ledger";
import type { Report } from "@mlrb/formats/report";
import type { Seed } from "@mlrb/formats/report/attempt";
import type { ProtocolResult } from "@mlrb/formats/report/protocol";
import type { Ran } from "@mlrb/formats/stage/action";
import type { Times } from "@mlrb/formats/times";
import type { BudgetPart } from "../story/budget-parts.ts";
import type { StoryFailure } from "../story/story-failures.ts";
import type { StoryLine } from "../story/timeline.ts";

export type PageData = {
  report: Report;
  /** Durations of the attempts; null where the pipeline has none. */
  times: Times | null;
  plan: { pipeline: string; profile: string; selection: string };
  /** The frozen protocol, with the departures from it. */
  protocol: ProtocolResult;
  /** Commit of the program that wrote the page; null where it is in no Git repository. */
  commit: string | null;
  /** The declared stages with the artifacts between them, as SVG that Graphviz made. */
  graph: string;
  /** Every planned stage instance, in the plan's order, with environments left out. */
  instances: PageInstance[];
  stories: PageStory[];
};

export type PageInstance = {
  id: string;
  /** The declared stage's name. */
  stage: string;
  /** The stage's role in the pipeline. */
  role?: string;
  axes: Record<string, Seed>;
  outcome: PageOutcome;
  /** Why it last ran; empty without a journal. */
  reasons: string[];
  /** How an earlier attempt in its place ended without a record, if one did. */
  lost?: string;
  /** Inputs and outputs of its last success; null where none is stored. */
  made: Made | null;
  /** The last lines of its log. */
  said: string[];
};

/** Its last outcome; unknown where neither a journal nor the cache has one. */
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
  /** The command that runs the stage again. */
  again: string;
};

/** Bytes of the texts of a story on the page. */
export const storyBytesMax = 40_000;
/** A story on the page is told from the first so many bytes of its trajectory: a page is drawn after each run. */
export const toldBytesMax = 4_000_000;

/** An experiment of an attempt, in plain text of bounded length. */
export type PageExperiment = Pick<IterationRecord, "sinceStartMs" | "metric" | "decision" | "source"> & {
  what: string;
};

/** Experiments of an attempt on the page. */
export const experimentsMax = 60;

/** Bytes of the whole texts in a story on the page: prompts, and inputs and results of tools. */
export const wholeBytesMax = 40_000;

/** `full`: the whole text that the line begins, with its line breaks; absent where the line shows all of it. */
export type PageLine = Omit<StoryLine, "whole"> & { full?: string };

/** An attempt's story, or why it cannot be told. */
export type PageStory = { task: string; agent: string; seed: Seed } & (
  | {
      kind: "read";
      lines: PageLine[];
      /** Whether the limits left nothing out. */
      fits: boolean;
      /** Of the whole trajectory. */
      bytes: number;
      /** From the ledger; empty where the ledger cannot be read. */
      budget: BudgetPart[];
      /** Of a team; empty for other agents. */
      members: LedgerMember[];
      failures: StoryFailure[];
      experiments: PageExperiment[];
      /** Found, but not on the page. */
      experimentsMore: number;
      /** What could not be read, and why. */
      missing: string[];
    }
  | { kind: "unreadable"; cause: string }
);
