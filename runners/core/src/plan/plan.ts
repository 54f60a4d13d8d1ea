// The types of a plan: a pipeline validated, expanded over its axes and frozen. plan-stages, expand and load-plan
// make it.

import type { Network, PoolsSpec, Scalar, SlurmSettings, StageSpec } from "@mlrb/formats/declared/pipeline";
import type { KeyParts, PlannedBudget } from "@mlrb/formats/stage/action";
import type { Json } from "@mlrb/kit/stage";

export type OutputKind = "file" | "dir";

export type PlannedOutput = {
  name: string;
  /** The name of the file or folder on disk. */
  file: string;
  kind: OutputKind;
  /** Declared private, or made from a private artifact and not released. */
  private: boolean;
  /** Earlier records lack it: it is in no key of an attempt. */
  added?: true;
};

export type ArtifactSource = {
  name: string;
  stage: string;
  output: string;
  /** Of a collected artifact: only its digest is used, and it is not materialized. */
  digestOnly?: true;
};

export type PlannedStage = {
  name: string;
  /** The role of its results for stages that collect them. */
  role?: string;
  each: string[];
  keyed: string[];
  needs: ArtifactSource[];
  collect: ArtifactSource[];
  gives: PlannedOutput[];
  durable: boolean;
  untrusted: boolean;
  /** It opens files that untrusted code made, and runs inside walls. */
  opens?: "untrusted";
  /** Its outputs are published under results/: it has no axes and no stage needs its outputs. */
  publishes: boolean;
  /** Where it is written; undefined for generated stages. */
  place?: { file: string; line: number };
  spec: StageSpec;
};

export type RunSpec = KeyParts["run"];

/** What an instance does. Everything but `secrets` is part of its action key. */
export type ActionSpec = {
  run: RunSpec;
  params: Record<string, Json>;
  /** Patterns relative to the repository's root. */
  files: string[];
  env: Record<string, string>;
  secrets: string[];
  budget: PlannedBudget;
  hostSensitive: boolean;
};

export type Execution = {
  executor: string;
  /** Of a container; undefined: this host's own programs. */
  image?: string;
  network?: Network;
  /** How its job is submitted, with the executor slurm. */
  slurm?: SlurmSettings;
  /** `pools` holds only pools of which it takes something. */
  resources: {
    cpus: number;
    memoryBytes: number;
    gpus: number;
    /** Of each GPU, for an untrusted stage; undefined: all of it. */
    gpuMemoryBytes?: number;
    pools: Record<string, number>;
  };
  limits: {
    timeMs?: number;
    memoryBytes?: number;
    processes?: number;
    diskBytes?: number;
    providerWaitMs?: number;
    operatorWaitMs?: number;
  };
  /** Whether its script may start programs or load native code. */
  programs?: true;
  /** Whether it is marked if there is nothing that it starts after. */
  needsCheck?: true;
  /** Axes: instances start in the order of their values, in a fixed random order among equal ones. */
  startBy?: string[];
  /** How often it is retried after a failure of the machine. Its own failures are not retried. */
  retries: number;
  /** Of a service. */
  service?: ServiceExecution;
};

export type ServiceExecution = {
  /** The path that answers 200 once it is ready. */
  health: string;
  /** Time until its first such answer. */
  readyMs: number;
  /** How often it is started again if it ends while it is used. */
  restartsMax: number;
};

export type Instance = {
  /** Position in the plan; every instance comes after its dependencies. */
  index: number;
  /** e.g. `attempt[task=baby-lm,agent=script-strong,seed=1]`. */
  id: string;
  stage: PlannedStage;
  axes: Record<string, Scalar>;
  inputs: { name: string; from: number; output: string }[];
  /** The planned members of a collecting stage, in order. */
  members: { from: number; output: string; digestOnly?: true }[];
  /** The index of the instance that builds its environment. */
  environment?: number;
  /** The service whose address its command or its parameters name: one at most. */
  uses?: { name: string; from: number };
  /** Indices of the instances that must have succeeded before it starts, but not before it is reused. */
  checks?: number[];
  /** The ids of such instances that a person left out of the plan. */
  skippedChecks?: string[];
  /** The ids of such instances at its axes, where it needs a check and the plan has none at all. */
  undeclaredChecks?: string[];
  action: ActionSpec;
  execution: Execution;
};

export type Plan = {
  pipeline: string;
  title: string;
  profile: string;
  /** The names of all profiles of the pipeline. */
  profiles: string[];
  /** The size of each pool. */
  pools: PoolsSpec;
  /** `--set` as text for the results folder, e.g. `agent=nop,seed=1`; empty for the whole plan. */
  selection: string;
  /** Whether attempts with a stale record are left or run again, unless the command line overrides it. */
  onStale: "leave" | "rerun";
  /** Whether untrusted programs may run where only polls limit their memory. In no key. */
  weakLimits: boolean;
  /** Whether a run writes a diagnostic bundle at its end. */
  diagnose: boolean;
  /** Milliseconds that an instance of a stage roughly takes, by the stage's name, where the profile declares it. */
  takesMs: Record<string, number>;
  /** What an attempt under these conditions cost somebody else. */
  reported?: { dollars: number; source: string };
  stages: PlannedStage[];
  instances: Instance[];
};

/** The stage that builds environments. No pipeline may use this name. */
export const environmentStage = "environment";

/** `name[axis=value,…]` in the order of the stage's axes. */
export function instanceId(stage: string, axes: Record<string, Scalar>): string {
  const values = Object.entries(axes).map(([axis, value]) => `${axis}=${value}`);
  return values.length === 0 ? stage : `${stage}[${values.join(",")}]`;
}
