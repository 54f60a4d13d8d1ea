// The port between an attempt's supervisor and the sandbox of the agent's programs: a plain folder for our own
// scripted agents, bubblewrap or a container for everything else. Types only. Paths named `inside` are relative
// to the sandbox's root and written with "/".
import type { Server } from "node:net";
import type { RestorePoint, RestorePointEntry } from "@mlrb/formats/attempt/restore-point";
import type { Network } from "@mlrb/formats/declared/pipeline";
import type { SandboxRequest } from "@mlrb/formats/stage/stage-context";
import type { HostEnvironment } from "./executor.ts";
import type { Gpu } from "./gpu.ts";

export type Sandbox = {
  /** The kind of sandbox, for the trajectory, e.g. `plain`. */
  readonly kind: string;
  /** Its image and engine; undefined before something runs in it. */
  where?(): Record<string, string> | undefined;
  /** Absolute path of `inside` as the agent's programs see it, e.g. for MLRB_SUBMISSION. */
  seenAs(inside: string): string;
  /** Runs one program to its end. It sees only `request.env` and the sandbox's own variables. */
  exec(request: ExecRequest): Promise<ExecResult>;
  /** Copies a trusted file or folder of the host into the sandbox. Throws on failure, which is the harness' fault. */
  put(from: string, inside: string, options?: PutOptions): Promise<void>;
  /** Reads part of a regular file; undefined for a link, a device or a missing file. */
  get(inside: string, range: { from: number; bytesMax: number }): Promise<Uint8Array | undefined>;
  /** Takes files out of a folder whose names end in `.json`, and removes them. */
  drain?(request: DrainRequest): Promise<void>;
  /** Copies a folder out of the sandbox. Its contents are hostile; the cost is bounded. */
  snapshot(request: SnapshotRequest): Promise<SnapshotResult>;
  /** Copies what may hold text out of a folder, within limits, and lists the rest. */
  texts?(request: TextsRequest): Promise<CopiedTexts>;
  /** Copies files that changed since the restore point before. A text says why nothing was copied. */
  restorePoint?(request: RestorePointCopy): Promise<CopiedFiles | string>;
  /** Puts the files of a restore point into the sandbox. Call before programs run. */
  restore?(contents: string, restorePoint: RestorePoint): Promise<void>;
  /** Makes a server of the supervisor listen at a unix socket in the sandbox, open to all its programs. Call before programs run. */
  listen?(server: Server, inside: string): Promise<void>;
  /**
   * Suspends everything inside; new programs wait for `thaw`. False if something could not be suspended: then
   * everything runs on. Calls do not nest: `AttemptClock` counts the requests.
   */
  freeze(): Promise<boolean>;
  /** Resumes everything. False if something ran while it was suspended. */
  thaw(): Promise<boolean>;
  /**
   * Suspends the programs that were started with this variable, and what they started, whether or not everything is
   * frozen. Returns the function that resumes them; undefined if something could not be suspended: then all of them
   * run on.
   */
  freezePart?(variable: { name: string; value: string }): Promise<(() => void) | undefined>;
  /** Ends everything inside, frozen or not, also detached children. Files stay until `close`. */
  kill(): Promise<void>;
  /**
   * Removes files that programs wrote outside their workspace, to make room for the record. Call when nothing runs
   * inside. Returns the bytes that were freed, and the limit on such files.
   */
  shed?(): Promise<{ freedBytes: number; limitBytes: number }>;
  /** Kills and removes the sandbox. `keepFiles`, for an attempt without a record, keeps its files in place. */
  close(options?: { keepFiles?: boolean }): Promise<void>;
};

export type DrainRequest = {
  inside: string;
  bytesMax: number;
  /** Entries of one call. */
  filesMax: number;
  /** Names that are passed over. Those of entries that could not be removed are added. */
  without: Set<string>;
  /** Called for each by name, before it is removed. A text says why it could not be read. */
  take(name: string, content: Uint8Array | { refused: string }): void;
};

export type RestorePointCopy = {
  /** Host folder for the contents. */
  contents: string;
  /** Folders of the sandbox, and paths in them that are left out. */
  folders: readonly string[];
  without: readonly string[];
  /** The entries of the restore point before. */
  before: readonly RestorePointEntry[];
  /** A name for a new content. */
  newContent(): string;
  signal: AbortSignal;
};

export type CopiedFiles = { entries: RestorePointEntry[]; copiedBytes: number; torn: number };

type PutOptions = {
  readOnly?: boolean;
  /** The caller no longer needs it: it may be moved instead of copied. */
  move?: boolean;
  /** A new file appears with all of its bytes. A file that replaces another one always does. */
  whole?: boolean;
};

export type ExecRequest = {
  argv: string[];
  /** Working directory. */
  cwd: string;
  env: Record<string, string>;
  /** Called with every piece of output; the bytes are hostile. */
  onOutput(stream: "stdout" | "stderr", bytes: Uint8Array): void;
};

export type ExecResult =
  | { kind: "exited"; code: number; over?: OverLimit }
  | { kind: "signalled"; signal: string; over?: OverLimit }
  /** The sandbox itself ended, e.g. with its engine: never the agent's fault. */
  | { kind: "lost"; detail: string }
  /** The program could not be started: with a preset's command never the agent's fault. */
  | { kind: "not-started"; detail: string };

/** A limit that the program reached, even if it went on: the agent's responsibility. */
export type OverLimit = { limit: "memory" | "disk" | "processes"; detail: string };

/**
 * The isolation of one sandbox's programs. Its files are in a folder of the host, which the supervisor reads. After
 * `freeze`, callers start no program before `thaw`. `kill` throws if something does not end.
 */
export type Walls = Pick<Sandbox, "kind" | "exec" | "freeze" | "thaw" | "freezePart" | "kill"> & {
  /** For the attempt's provenance, e.g. `{ image, engine }`. */
  readonly where: Record<string, string>;
  /** Kills everything and removes all but the folder. */
  close(): Promise<void>;
};

export type WallsRequest = {
  /** Writable host folder, seen inside as `seenAs`. Programs inside run as its owner. */
  folder: string;
  /** Absolute and the same for every attempt, so that no path of the host leaks. */
  seenAs: string;
  /** Paths relative to `folder` that are read-only inside. */
  readOnly: string[];
  /** Absolute host files and folders, mounted read-only at the same paths, e.g. an environment. */
  reads: string[];
  network: Network;
  limits: SandboxLimits;
  gpus: readonly Gpu[];
  /** Undefined: this host's own system folders, read-only. */
  image?: string;
  /** The Python environment among `reads`. */
  environment?: HostEnvironment;
  /** Marks its processes and containers on the host, so that they can be ended after their supervisor died. */
  token: string;
};

/** Threads count as processes; the limit on the disk is for each file, and for all in the folder together. */
export type SandboxLimits = SandboxRequest["limits"];

export type SnapshotLimits = { bytesMax: number; filesMax: number };

export type SnapshotRequest = {
  inside: string;
  /** A host folder that does not exist yet. */
  to: string;
  limits: SnapshotLimits;
  /** The `state` of an earlier snapshot: an unchanged folder is not copied. */
  unless?: string;
  /**
   * An earlier copy, in a folder that programs inside cannot write: a large file with equal bytes becomes a hard
   * link instead of a second copy.
   */
  earlier?: { folder: string; files: CopiedTree["files"] };
};

export type SnapshotResult =
  | { kind: "taken"; state: string; tree: CopiedTree }
  | { kind: "unchanged" }
  /** Over a limit: nothing was copied. */
  | { kind: "over-limits"; state: string; detail: string };

export type TextLimits = {
  /** Of all copies together, and of one. */
  bytesMax: number;
  fileBytesMax: number;
  /** Files and folders that are looked at. */
  filesMax: number;
};

export type TextsRequest = {
  inside: string;
  /** A host folder that does not exist yet. */
  to: string;
  /** Paths below `inside` that are passed over. */
  without: readonly string[];
  limits: TextLimits;
};

export type CopiedTexts = {
  files: { path: string; bytes: number; digest: string }[];
  /** Not copied, and why: no text, too large, or nothing that can be read. Bounded. */
  leftOut: { path: string; why: string }[];
  leftOutMore: number;
  /** In words, if there were more files than are looked at. */
  over?: string;
};

export type CopiedTree = {
  files: { path: string; bytes: number; digest: string }[];
  bytes: number;
  /** sha256 over paths, sizes and digests: equal trees have equal digests. */
  digest: string;
  /** Entries that were left out and why (links, devices, odd names, unreadable, too deep); bounded. */
  leftOut: { path: string; why: string }[];
  /** The number of left-out entries that are not listed. */
  leftOutMore: number;
  /** Files that changed while they were copied: their copy may be torn. */
  torn: string[];
};
