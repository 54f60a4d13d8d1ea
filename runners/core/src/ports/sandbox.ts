// The port between an attempt's supervisor and whatever holds the agent's programs: a plain folder
// for our own scripted baselines, bubblewrap or a container for everything else. Types only.
// Paths named `inside` are relative to the sandbox's root and written with "/".
import type { Server } from "node:net";
import type { Network } from "@mlrb/formats/declared/pipeline";
import type { Gpu } from "./gpu.ts";

export type Sandbox = {
  /** What kind of sandbox this is, for the trajectory, e.g. `plain`. */
  readonly kind: string;
  /** In what it stands: image, engine; undefined before something runs in it. */
  where?(): Record<string, string> | undefined;
  /** Absolute path of `inside` as the agent's programs see it, e.g. for MLRB_SUBMISSION. */
  seenAs(inside: string): string;
  /** Runs one program to its end. Only `request.env` and what the sandbox itself declares is visible to it. */
  exec(request: ExecRequest): Promise<ExecResult>;
  /** Copies a trusted file or folder of the host in. Throws when it cannot: the harness is at fault. */
  put(from: string, inside: string, options?: PutOptions): Promise<void>;
  /** Reads part of one regular file; a link, a device or a missing file gives undefined. */
  get(inside: string, range: { from: number; bytesMax: number }): Promise<Uint8Array | undefined>;
  /** Copies a folder out as it stands. What the folder holds is hostile; what it costs is bounded. */
  snapshot(request: SnapshotRequest): Promise<SnapshotResult>;
  /** Makes a server of the supervisor's listen at a unix socket inside, which has its name there for everybody. Before programs run. */
  listen?(server: Server, inside: string): Promise<void>;
  /**
   * Stops everything that runs inside without ending it; programs that are to start wait until it thaws. False
   * where something could not be stopped: then everything runs on. Not nested: `AttemptClock` counts the waits.
   */
  freeze(): Promise<boolean>;
  /** Lets everything go on. False where something had run although it was stopped. */
  thaw(): Promise<boolean>;
  /** Ends everything that was started inside, frozen or not, detached children too. Files stay until close. */
  kill(): Promise<void>;
  /**
   * Once nothing runs inside: removes what its programs wrote outside their workspace, so that the record has
   * room. Gives the bytes that this freed, and what they might have written in all.
   */
  shed?(): Promise<{ freedBytes: number; limitBytes: number }>;
  /** Kills and removes the sandbox. Its files stay where they are if `keepFiles`: of an attempt that gives no record. */
  close(options?: { keepFiles?: boolean }): Promise<void>;
};

export type PutOptions = {
  readOnly?: boolean;
  /** The caller has no more use for it: it may be moved in place of being copied. */
  move?: boolean;
};

export type ExecRequest = {
  argv: string[];
  /** Working directory. */
  cwd: string;
  env: Record<string, string>;
  /** Called with every piece of output as it comes; the bytes are hostile. */
  onOutput(stream: "stdout" | "stderr", bytes: Uint8Array): void;
};

export type ExecResult =
  | { kind: "exited"; code: number; over?: OverLimit }
  | { kind: "signalled"; signal: string; over?: OverLimit }
  /** The sandbox itself ended under it, e.g. with its engine: never the agent's doing. */
  | { kind: "lost"; detail: string }
  /** The program could not be started at all: never the agent's doing with a preset's command. */
  | { kind: "not-started"; detail: string };

/** A limit that it met meanwhile, whatever its program made of that: the agent's doing. */
export type OverLimit = { limit: "memory" | "disk" | "processes"; detail: string };

/** What holds the programs of one sandbox. Its files lie in a folder of the host, which the supervisor reads. */
export type Walls = {
  /** For the trajectory, e.g. `bubblewrap`, `docker`. */
  readonly kind: string;
  /** In what they stand, for the attempt's provenance, e.g. `{ image, engine }`. */
  readonly where: Record<string, string>;
  exec(request: ExecRequest): Promise<ExecResult>;
  /** As `Sandbox.freeze`; no program is asked for until it thaws. */
  freeze(): Promise<boolean>;
  thaw(): Promise<boolean>;
  /** Ends everything that was started inside; throws where something would not end. */
  kill(): Promise<void>;
  /** Kills, and leaves nothing behind but the folder. */
  close(): Promise<void>;
};

export type WallsRequest = {
  /** Host folder with everything that may be written inside; seen inside as `seenAs`. Programs inside are the user whose it is. */
  folder: string;
  /** Absolute, the same for every attempt: no path of the host is told. */
  seenAs: string;
  /** Paths relative to `folder` that cannot be written inside. */
  readOnly: string[];
  /** Absolute host folders that are shown read-only at their own paths, e.g. an environment. */
  reads: string[];
  network: Network;
  limits: SandboxLimits;
  gpus: readonly Gpu[];
  /** Undefined: this host's own system folders, read-only. */
  image?: string;
  /** Marks what belongs to it on the host, so that whoever comes after its supervisor can end it. */
  token: string;
};

export type SandboxLimits = {
  memoryBytes: number;
  /** Threads count as processes. */
  processes: number;
  /** Of everything in the folder together. */
  diskBytes: number;
  cpus: number;
};

export type SnapshotLimits = { bytesMax: number; filesMax: number };

export type SnapshotRequest = {
  inside: string;
  /** A host folder that does not exist yet. */
  to: string;
  limits: SnapshotLimits;
  /** The `state` of an earlier snapshot: nothing is copied when the folder still looks the same. */
  unless?: string;
  /**
   * A copy that was taken before, in a folder that nobody inside can write: a large file that is still
   * the same, byte for byte, becomes another name of the one there instead of a second copy.
   */
  earlier?: { folder: string; files: CopiedTree["files"] };
};

export type SnapshotResult =
  | { kind: "taken"; state: string; tree: CopiedTree }
  | { kind: "unchanged" }
  /** Over a limit: nothing was copied. */
  | { kind: "over-limits"; state: string; detail: string };

export type CopiedTree = {
  files: { path: string; bytes: number; digest: string }[];
  bytes: number;
  /** sha256 over paths, sizes and digests: equal trees have equal digests. */
  digest: string;
  /** What was kept out and why (links, devices, odd names, unreadable, too deep); bounded. */
  leftOut: { path: string; why: string }[];
  /** How many more were kept out than are listed. */
  leftOutMore: number;
  /** Files that were written to while they were copied: their copy may be torn. */
  torn: string[];
};
