// The port through which a stage instance is carried out somewhere: on this machine, in a container,
// on a cluster. Implementations stand in packages beside core and are handed in by the cli.

import type { Network } from "@mlrb/formats/declared/pipeline";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import type { RunSpec } from "../plan/plan.ts";
import type { Gpu } from "./gpu.ts";
import type { Permissions } from "./permissions.ts";

export type ExecutionRequest = {
  /** The stage instance. */
  id: string;
  /** Its action key: whoever finds it running knows by it whether its result is wanted. */
  key: string;
  /** Marks its processes; everything that bears it is ended with the instance, or by the next run. */
  token: string;
  run: RunSpec;
  /** Absolute; becomes the process's working directory. */
  root: string;
  /** Absolute; everything the instance may write besides its outputs. Empty at the start. */
  work: string;
  /** The whole environment that the process sees. */
  env: Record<string, string>;
  /** Python of the stage's environment; required for `python:`. */
  python?: string;
  /** Paths for `{inputs.x}` and `{outputs.x}` of a command. */
  inputs: Record<string, string>;
  outputs: Record<string, string>;
  /** Absolute; standard output and error are appended to it as they come. */
  log: string;
  /** Of the whole process tree; memory is what it holds, shared pages counted once. */
  limits: { timeMs?: number; memoryBytes?: number };
  /** What its processes may reach; undefined where nothing is said. */
  network?: Network;
  /** Absolute; where to write which files its processes open; only of an executor that can. */
  trace?: string;
  /** What its script is held to; undefined where it is not. Of Python, `env` names them to its guard. */
  permissions?: Permissions;
  /** Absolute; the module that notes what a script reads that is not held. */
  recorder?: string;
  /** A folder that its processes must not be able to write in; only of an executor that `mountsReadOnly`. */
  readOnly?: string;
  /**
   * Absolute; a Python file that imports what programs of this environment import, for an executor that
   * forks them from a process that has. Undefined where the instance must be a process of its own from
   * the start: one that measures memory or speed, or is not trusted.
   */
  preload?: string;
  /** Absolute folders besides `root` and `work` that it reads, e.g. its environment and that one's interpreter. */
  reads: string[];
  /** Absolute folders besides `work` that it writes, e.g. the environment that it builds. */
  writes: string[];
  /** The image of a container; undefined for one that shows this host's own system folders. */
  image?: string;
  /** What it holds while it runs. */
  cpus: number;
  gpus: readonly Gpu[];
};

export type Running = {
  /** Settles when the instance's whole process tree is dead; never rejects. */
  ended: Promise<ExecutionResult>;
  /** Asks it to end in order; it is killed if it has not after a grace time. */
  askToEnd(): void;
  kill(): void;
  /** Lets go of it without ending it, where it outlives its run: `ended` then says cancelled. */
  leave?(): void;
};

export type Executor = {
  name: string;
  start(request: ExecutionRequest): Running;
  /** Whether it can show a folder to an instance so that the instance cannot write in it. */
  mountsReadOnly?(): Promise<boolean>;
  /**
   * What still runs, or ended, of an instance with this key that a dead run had started: its work folder and
   * a handle on it, as `start` would give. Given to one caller only.
   */
  adopt?(key: string): Promise<{ work: string; running: Running } | undefined>;
  /** Ends what dead runs had started here and nobody adopted; false where that cannot be told now. */
  clearLeft?(): Promise<boolean>;
  /** Called once nothing runs any more. */
  close?(): void | Promise<void>;
};
