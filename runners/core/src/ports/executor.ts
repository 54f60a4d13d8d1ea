// The port through which a stage instance is executed: on this machine, in a container, on a cluster. Other
// packages implement it, and the cli passes the implementations.

import type { Network, SlurmSettings } from "@mlrb/formats/declared/pipeline";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import type { RunSpec } from "../plan/plan.ts";
import type { Gpu } from "./gpu.ts";
import type { Permissions } from "./permissions.ts";

export type ExecutionRequest = {
  /** The stage instance. */
  id: string;
  /** Its action key: a later run that finds it running knows by it whether to adopt it. */
  key: string;
  /** Marks its processes; everything with this mark is ended with the instance, or by the next run. */
  token: string;
  run: RunSpec;
  /** Absolute; becomes the process's working directory. */
  root: string;
  /** Absolute; the folder for everything that the instance writes besides its outputs. Empty at the start. */
  work: string;
  /** The whole environment that the process sees. */
  env: Record<string, string>;
  /** Python of the stage's environment; required for `python:`. */
  python?: string;
  /** Paths for `{inputs.x}` and `{outputs.x}` of a command. */
  inputs: Record<string, string>;
  outputs: Record<string, string>;
  /** Set for a service: for `{port}` of its command. */
  port?: number;
  /** The addresses on this host of services by name, for `{services.x.url}`. */
  services?: Record<string, string>;
  /** Absolute; standard output and error are appended to it as they come. */
  log: string;
  /** Of the whole process tree; memory is what it holds, shared pages counted once. */
  limits: { timeMs?: number; memoryBytes?: number };
  network?: Network;
  /** The permissions of its script; undefined: none are enforced. For Python, `env` passes them to its guard. */
  permissions?: Permissions;
  /** Absolute; the module that records the reads of a script without enforced permissions. */
  recorder?: string;
  /** Set for a stage that opens what untrusted code made. */
  walls?: StageWalls;
  /** A folder that its processes must not write to; only for an executor that `mountsReadOnly`. */
  readOnly?: string;
  /**
   * Absolute; a Python file with the usual imports of this environment, for an executor that forks programs from a
   * process with these imports. Undefined if the instance must be a fresh process, because it measures memory or
   * speed or is untrusted.
   */
  preload?: string;
  /** Absolute folders besides `root` and `work` that it reads, e.g. its environment and the interpreter. */
  reads: string[];
  /** Absolute folders besides `work` that it writes, e.g. the environment that it builds. */
  writes: string[];
  /** The image of a container; undefined: this host's own system folders. */
  image?: string;
  /** Its folders are in `reads`, and in those of `walls`. */
  environment?: HostEnvironment;
  cpus: number;
  /** Of this host, leased for it. */
  gpus: readonly Gpu[];
  /** For an executor that asks a scheduler for them. */
  booked?: Booked;
  /** Set for an attempt on a node: its model calls leave the node through the relay of the host that submitted it. */
  relay?: true;
  /** After how much time it is to end so that the attempt goes on in another job, ms. */
  turnMs?: number;
  /** How long earlier jobs of the same attempt have run: `limits.timeMs` is the limit of all together. */
  ranMs?: number;
};

/** What a stage books besides CPUs, and how its job is submitted. */
export type Booked = {
  memoryBytes: number;
  gpus: number;
  /** The host facts of its key: its result is wrong for this key if the node has others. */
  host?: Record<string, string>;
  slurm?: SlurmSettings;
};

/** A Python environment on this host. */
export type HostEnvironment = {
  path: string;
  /** The folder of the interpreter behind it, where /usr does not hold it. */
  interpreter?: string;
  /** SHA-256 of its lock file, by which a container finds the same environment in its image. */
  lock: string;
};

/**
 * Walls around a stage that opens what untrusted code made. Of the host's files nothing exists inside but these
 * paths, at the same names, and the system's programs and libraries. There is no network and no other process.
 */
export type StageWalls = {
  /** The user of its processes; undefined: this process's own user, in a user namespace. */
  user?: { uid: number; gid: number };
  /** Whether the stage must not run where no walls can be built. Otherwise it then runs under its limits alone. */
  required: boolean;
  /** Absolute files and folders, read-only. */
  reads: string[];
  /** Absolute files and folders in which it writes. */
  writes: string[];
  limits: StageWallsLimits;
};

type StageWallsLimits = {
  /** Of all its processes together; the kernel holds it where this user may make a control group. */
  memoryBytes: number;
  /** Processes and threads. */
  processes: number;
  /** Of each file that it writes. */
  fileBytes: number;
};

/** Where a scheduler runs an instance. */
export type Place = { node: string; job: string };

export type Running = {
  /** Resolves when the instance's whole process tree is dead; never rejects. */
  ended: Promise<ExecutionResult>;
  /** For an executor whose instances wait in a queue: resolves once this one runs; never rejects. */
  began?: Promise<Place>;
  /** Asks it to end, and kills it after a grace time. */
  askToEnd(): void;
  kill(): void;
  /** Of its first process on this host; undefined before it has one, and elsewhere. */
  pid?(): number | undefined;
  /** Detaches from an instance that outlives its run: `ended` then resolves to cancelled. */
  leave?(): void;
};

/**
 * The contract of every executor, local, docker or slurm. `start` submits; `ended` polls, and collects the result;
 * `askToEnd` and `kill` cancel; `adopt` finds what a dead run has submitted. tests/support/executor-contract.ts
 * tests it.
 */
export type Executor = {
  name: string;
  /**
   * How often an instance is tried again, at least, after a failure of the machine: a cluster's nodes fail and
   * preempt as a matter of course.
   */
  retries?: number;
  start(request: ExecutionRequest): Running;
  /** Whether it can mount a folder read-only. */
  mountsReadOnly?(): Promise<boolean>;
  /**
   * The work folder and a handle of an instance with this key that a dead run started, running or ended. Only one
   * caller gets it.
   */
  adopt?(key: string): Promise<{ work: string; running: Running } | undefined>;
  /** Ends instances of dead runs that were not adopted; false if that cannot be decided now. */
  clearLeft?(): Promise<boolean>;
  /** Called after the last instance has ended. */
  close?(): void | Promise<void>;
};
