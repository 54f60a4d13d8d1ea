// A pipeline as it is written, after its shape was checked and before anything in it is looked up.
import type { Json } from "@mlrb/kit/stage";

export type Scalar = string | number;

export type PipelineSpec = {
  formatVersion: 1;
  name: string;
  title?: string;
  axes?: Record<string, AxisSpec>;
  params?: Record<string, Json>;
  pools?: PoolsSpec;
  profiles?: Record<string, ProfileSpec>;
  stages: Record<string, StageSpec>;
};

/**
 * A list of values, or the values that another axis' manifest lists (`{ of: task }`), under the axis' name
 * with an s or where `field` says; it may name parameters: `scorers.{params.data}`.
 */
export type AxisSpec = Scalar[] | { of: string; field?: string };

/** What a profile or a stage may set about where and how far a stage runs; outside action keys. */
export type ExecutionSpec = {
  executor?: string;
  /** The image of its containers: a Dockerfile, `name@sha256:…`, or `host`. In the action key. */
  image?: string;
  network?: Network;
  resources?: ResourcesSpec;
  limits?: LimitsSpec;
};

export type ProfileSpec = ExecutionSpec & {
  default?: boolean;
  title?: string;
  extends?: string;
  /** What becomes of an attempt whose record is stale: left (the default) or run again. */
  onStale?: "leave" | "rerun";
  axes?: Record<string, AxisSpec>;
  params?: Record<string, Json>;
  pools?: PoolsSpec;
  stages?: Record<string, ExecutionSpec>;
};

/** What a stage's processes may reach: nothing but the machine itself, or everything. */
export type Network = "none" | "full";

/** How much there is of things that are no hardware, e.g. calls at once to a provider: `{ "api:openai": 4 }`. */
export type PoolsSpec = Record<string, number>;

export type ResourcesSpec = {
  cpus?: number;
  memory?: string;
  gpus?: number;
  /** How much it takes of each pool. A name may hold placeholders; one that comes out empty takes nothing. */
  pools?: Record<string, number>;
};

type LimitsSpec = {
  time?: string;
  memory?: string;
  processes?: number;
  disk?: string;
  providerWait?: string;
  operatorWait?: string;
};

export type StageSpec = ExecutionSpec & {
  title?: string;
  each?: string[];
  keyed?: string[];
  script?: string;
  python?: string;
  command?: string | string[];
  /** `stage.output`, or a table that renames: `{ train: data.public }`. */
  needs?: string[] | Record<string, string>;
  collect?: string[];
  gives?: Record<string, GivesSpec>;
  params?: Record<string, Json>;
  files?: string[];
  env?: Record<string, Scalar>;
  /** Names, or a field of a manifest that lists them. */
  secrets?: string[] | string;
  environment?: string;
  /** Or a field that says so, e.g. `{scorer.programs}`. */
  programs?: boolean | string;
  budget?: { time?: string; tokens?: number | string; dollars?: number | string };
  retries?: number;
  durable?: boolean;
  untrusted?: boolean;
  /** Or a field that says so, e.g. `{scorer.hostSensitive}`. */
  hostSensitive?: boolean | string;
  releases?: string[];
};

/** `file` may say the file's name, e.g. `{ file: ledger.json }`; by default it is the output's. */
export type GivesSpec = "file" | "dir" | { file?: true | string; dir?: true; private?: boolean };
