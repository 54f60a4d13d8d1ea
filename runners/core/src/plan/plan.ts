// The plan: a pipeline validated, expanded over its axes and frozen. These are its types; plan-stages,
// expand and load-plan make it.

import type { Network, PoolsSpec, Scalar, StageSpec } from "@mlrb/formats/declared/pipeline";
import type { Json } from "@mlrb/kit/stage";

export type OutputKind = "file" | "dir";

export type PlannedOutput = {
  name: string;
  /** The file's or folder's name on disk. */
  file: string;
  kind: OutputKind;
  /** Declared private, or made from something private and not released. */
  private: boolean;
};

export type ArtifactSource = {
  name: string;
  stage: string;
  output: string;
  /** Of a collected one: its digest will do, and it is not laid out. */
  digestOnly?: true;
};

export type PlannedStage = {
  name: string;
  /** What its results are to stages that collect them. */
  role?: string;
  each: string[];
  keyed: string[];
  needs: ArtifactSource[];
  collect: ArtifactSource[];
  gives: PlannedOutput[];
  durable: boolean;
  untrusted: boolean;
  /** Its results are laid out under results/: it has no axes and nothing else needs what it gives. */
  publishes: boolean;
  /** Where it is written; undefined for stages that no file names. */
  place?: { file: string; line: number };
  spec: StageSpec;
};

export type RunSpec =
  | { kind: "script"; file: string }
  | { kind: "python"; file: string }
  | { kind: "command"; command: string | string[] };

/** What shapes what an agent does; `tokens` are those of all model calls, in and out. */
type Budget = { timeMs?: number; tokens?: number; dollars?: number };

/** What an instance does; everything here but `secrets` is part of its action key. */
export type ActionSpec = {
  run: RunSpec;
  params: Record<string, Json>;
  /** Patterns relative to the repository's root. */
  files: string[];
  env: Record<string, string>;
  secrets: string[];
  budget: Budget;
  hostSensitive: boolean;
};

export type Execution = {
  executor: string;
  /** Of a container; undefined where nothing is said, and then it is this host's own programs. */
  image?: string;
  /** Undefined where nothing is said. */
  network?: Network;
  /** `pools` holds only what it takes something of. */
  resources: { cpus: number; memoryBytes: number; gpus: number; pools: Record<string, number> };
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
  /** How often it is tried again when the machine failed it, never when it failed itself. */
  retries: number;
};

export type Instance = {
  /** Position in the plan; whatever an instance depends on stands before it. */
  index: number;
  /** e.g. `attempt[task=baby-lm,agent=reference,seed=1]`. */
  id: string;
  stage: PlannedStage;
  axes: Record<string, Scalar>;
  inputs: { name: string; from: number; output: string }[];
  /** The planned members of a collecting stage, in order. */
  members: { from: number; output: string; digestOnly?: true }[];
  /** The instance that builds the environment it runs in. */
  environment?: number;
  action: ActionSpec;
  execution: Execution;
};

export type Plan = {
  pipeline: string;
  title: string;
  profile: string;
  /** The names of all its profiles. */
  profiles: string[];
  /** How much there is of each pool. */
  pools: PoolsSpec;
  /** `--set` as text for the results folder, e.g. `agent=nop,seed=1`; empty when the plan is whole. */
  selection: string;
  /** What becomes of an attempt whose record is stale, unless the command line says otherwise. */
  onStale: "leave" | "rerun";
  stages: PlannedStage[];
  instances: Instance[];
};

/** The stage that builds environments; no pipeline may use the name. */
export const environmentStage = "environment";

/** `name[axis=value,…]` in the order of the stage's axes. */
export function instanceId(stage: string, axes: Record<string, Scalar>): string {
  const values = Object.entries(axes).map(([axis, value]) => `${axis}=${value}`);
  return values.length === 0 ? stage : `${stage}[${values.join(",")}]`;
}
