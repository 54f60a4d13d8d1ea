// The folders that people add, described: tasks/NAME/task.yaml, scorers/NAME/scorer.yaml and
// agent presets. Their shape is checked by the runner before anything runs; these types are for scripts.

import type { Json } from "./stage.ts";
import type { RuleSeverity, RuleSource } from "./verdict.ts";

/** Whose rows a task is done on, e.g. `smoke` or `official`: what a pipeline's `params.data` asks for. */
export type DataKind = string;

export type TaskManifest = {
  formatVersion: 1;
  name: string;
  /** The name in the official package, e.g. `baby_lm`. */
  officialName: string;
  title: string;
  /** What is handed in, one sentence. */
  submission: string;
  /** Scorer names by kind of data, the fan-out of the axis `scorer`. */
  scorers: Record<DataKind, string[]>;
  /** The scorer that the task is decided on, by kind of data. */
  primary: Record<DataKind, string>;
  /** The environment (a lock file) of the task's scripted baselines. */
  environment: string;
  /** Script that makes the models given beside the data, e.g. pipelines/models/base.py. */
  models?: string;
  /** Script that has a submission write what its scorers judge, e.g. pipelines/generate/proofs.py. */
  generate?: string;
  budget: Record<DataKind, { time: string }>;
  /** By kind of data, then by scorer: a number, or the name of the anchors row that is the floor. */
  floors: Record<DataKind, Record<string, number | string>>;
  /** Models that nobody trained for the task, by kind of data; `model` is one that the anchors step can make. */
  anchors?: Record<DataKind, { name: string; title: string; model: string }[]>;
  /** By kind of data, then by scorer: the name of the anchors row that is 1 where the floor is 0. */
  anchorRows?: Record<DataKind, Record<string, string>>;
  /** By kind of data, then by scorer: what others published on this data. */
  published?: Record<DataKind, Record<string, PublishedValue[]>>;
  sources: Record<string, Json>;
  rules: TaskRule[];
  limits?: string[];
};

export type PublishedValue = {
  /** Whose agent or model. */
  who: string;
  value: number;
  /** Runs that it is of; absent where the source gives none. */
  n?: number;
  /** What it is of those runs, e.g. the best one. */
  note?: string;
  source: string;
};

export type TaskRule = {
  name: string;
  title: string;
  /** The check in pipelines/steps/validate that decides it. */
  method: string;
  /** The method's arguments, e.g. `{ max: 20000000 }`. */
  with?: Record<string, Json>;
  /** The kinds of data that it holds for; absent: all. */
  on?: DataKind[];
  source: RuleSource;
  severity: RuleSeverity;
};

export type ScorerManifest = {
  formatVersion: 1;
  name: string;
  title: string;
  version: number;
  unit: string;
  direction: "higher" | "lower";
  /** The least and the most that it can be, null for no most; absent where nothing is said. */
  range?: [number, number | null];
  environment: string;
  hostSensitive: boolean;
  /** Whether its scripts start programs; absent: no. */
  programs?: boolean;
  /** A program outside the environment that it starts, as one would write it in a shell: a Lean, say. */
  command?: string;
  /** Digits after the point in tables. */
  digits: number;
};
