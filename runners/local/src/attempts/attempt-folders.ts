// The folders of running attempts. An attempt outlives the run that began it, so its folder is next to the records
// and not in the folder of the run. There the supervisor (supervisor.ts) writes that it is alive and how the
// attempt ended. The card holds everything that a record needs, so any later run can keep the attempt.

import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { attemptKeyFormat } from "@mlrb/core/key/action-key";
import { type AttemptCard, attemptCard } from "@mlrb/formats/attempt/attempt-card";
import {
  type AttemptEnd,
  type EndCause,
  attemptEnd as endFormat,
  stopRequest,
} from "@mlrb/formats/attempt/attempt-end";
import { checkFormat, type Reading } from "@mlrb/formats/read-format";
import type { TypeOf } from "@mlrb/formats/schema";
import type { FailureCause } from "@mlrb/formats/stage/outcome";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { claimFile } from "@mlrb/kit/attempts/attempt-claim";
import { hasOpenJob } from "@mlrb/kit/attempts/open-job";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { processName } from "@mlrb/kit/processes/process-name";
import { look } from "../leases/heartbeat.ts";
import { lifeOf, thisProcess } from "../leases/owner.ts";
import { isResumable } from "../resume/resumable.ts";
import { refuseOther } from "../store/other-format.ts";
import type { StateFolder } from "../store/state-folder.ts";

export type AttemptFolder = {
  name: string;
  path: string;
  card: AttemptCard;
  state:
    | { kind: "running"; supervisor: Owner }
    | { kind: "ended"; end: AttemptEnd }
    /** The run that prepares the attempt is alive, and the attempt has not begun. */
    | { kind: "preparing" }
    /**
     * On another host: only that host can see whether the attempt is alive. Also if it has failed there. Also a
     * copy of an attempt's folder: the attempt may go on in the original, where its supervisor would not see that
     * it is paid twice.
     */
    | { kind: "elsewhere"; owner: Owner }
    /** Its supervisor died without writing an end, or is not started again yet, and another one can continue it. */
    | { kind: "resumable"; supervisor: Owner | undefined }
    /** Its supervisor, or the run that had not started one yet, died without writing an end. */
    | { kind: "lost"; supervisor: Owner | undefined };
};

/** An attempt in its folder, in whatever state. */
export type PlacedAttempt = Pick<AttemptFolder, "name" | "path" | "card">;

/** Marks every process of the attempt: letters, digits and dashes, as sandbox names require. */
export function attemptToken(name: string): string {
  return `mlrb-attempt-${name}-`;
}

let made = 0;

/**
 * Makes a folder with the parts that a stage works in. The folder is renamed into place with its card: without a
 * card it would belong to no attempt. A later run clears what a kill leaves (clear-unfinished).
 */
export function makeAttemptFolder(running: string, card: AttemptCard): { name: string; path: string } {
  const name = `${card.key.slice(0, 16)}-${processName}-${++made}`;
  const path = join(running, name);
  const unfinished = join(dirname(running), "records", `tmp-${processName}-new-${made}`);
  try {
    mkdirSync(unfinished, { recursive: true });
    for (const part of ["in", "out", "tmp"]) mkdirSync(join(unfinished, part));
    writeWhole(join(unfinished, "attempt.json"), canonicalJson(card), { sync: false });
    mkdirSync(running, { recursive: true });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
  return { name, path };
}

/**
 * The card of an attempt breaks its format or cannot be read from the disk, so its key is unknown. The attempt may
 * be running and may have been paid for: no attempt that may be the same one starts.
 */
export class DamagedAttempt extends Error {
  /** The folder's name. */
  readonly folder: string;
  /** What is wrong with the card, with the way out. */
  readonly words: string;

  constructor(path: string, fault: string) {
    const shown = path.slice(path.lastIndexOf("/.mlrb/") + 1);
    const words = `${shown} has an attempt.json that cannot be used: ${fault}; put the original file back, or end its supervisor (the pid in supervisor.json), move the folder out of .mlrb/attempts and run again`;
    super(`an attempt may go on unseen: ${words}`);
    this.folder = basename(path);
    this.words = words;
  }

  /**
   * The name of a folder begins with 16 digits of the key; a folder with any other name may belong to any attempt.
   */
  mayHaveKey(key: string): boolean {
    const begin = /^([0-9a-f]{16})-/.exec(this.folder)?.[1];
    return begin === undefined || key.startsWith(begin);
  }
}

/** Attempts whose card can be read, sorted by name: running, ended and not yet kept, or lost. */
export function attemptFolders(running: string): AttemptFolder[] {
  return allFolders(running).flatMap((one) => (one instanceof DamagedAttempt ? [] : [one]));
}

/** Attempts whose card cannot be read, sorted by name. */
export function damagedAttempts(running: string): DamagedAttempt[] {
  return allFolders(running).filter((one) => one instanceof DamagedAttempt);
}

function allFolders(running: string): (AttemptFolder | DamagedAttempt)[] {
  if (!existsSync(running)) return [];
  const names = readdirSync(running).sort();
  return names.map((name) => readFolder(running, name)).filter((one) => one !== undefined);
}

/** Undefined without a readable card. */
export function attemptFolder(running: string, name: string): AttemptFolder | undefined {
  const found = readFolder(running, name);
  return found instanceof DamagedAttempt ? undefined : found;
}

/** Undefined without a card, or with a torn one: the folder belongs to no attempt, or was moved meanwhile. */
function readFolder(running: string, name: string): AttemptFolder | DamagedAttempt | undefined {
  const path = join(running, name);
  const reading = readVersioned(attemptCard, join(path, "attempt.json"), `attempt ${name} in ${running}`);
  if (reading?.kind === "unreadable") return new DamagedAttempt(path, reading.cause);
  if (!reading) return undefined;
  const state = stateOf(path, reading.value);
  // a supervisor may move the folder between two reads
  return existsSync(path) ? { name, path, card: reading.value, state } : undefined;
}

function stateOf(path: string, card: AttemptCard): AttemptFolder["state"] {
  // in this order: a supervisor writes its end before it dies
  const supervisor = look(supervisorFile(path))?.owner;
  const life = supervisor && isCopied(path, supervisor) ? "elsewhere" : lifeOf(supervisor ?? card.by);
  const end = attemptEnd(path);
  // a supervisor whose attempt failed moves the folder next: another host must not mount its disk image meanwhile
  if (end && (life !== "elsewhere" || end.result.kind === "succeeded")) return { kind: "ended", end };
  if (life === "elsewhere") return { kind: "elsewhere", owner: supervisor ?? card.by };
  if (life === "alive" && supervisor) return { kind: "running", supervisor };
  const resumes = !toldToEnd(path) && (isResumable(path, card) || hasOpenJob(path));
  if (resumes) return { kind: "resumable", supervisor }; // also if its run lives: it could start no other supervisor
  return life === "alive" ? { kind: "preparing" } : { kind: "lost", supervisor };
}

/** Whether this is another folder than the one that the supervisor claimed. A folder that was moved stays the same. */
function isCopied(path: string, { folder, gone }: Owner): boolean {
  const inode = statSync(path, { throwIfNoEntry: false })?.ino;
  return folder !== undefined && inode !== undefined && inode !== folder && !gone;
}

/**
 * The attempt of this key that another run began and that is running, here or on another host, or can continue, or
 * has ended and is not kept yet. Throws DamagedAttempt where an attempt with an unreadable card may have this key.
 */
export function attemptOf(
  key: string,
  { state }: { state: Pick<StateFolder, "running"> },
): AttemptFolder | undefined {
  const held: AttemptFolder[] = [];
  for (const one of allFolders(state.running)) {
    if (one instanceof DamagedAttempt) {
      if (one.mayHaveKey(key)) throw one;
    } else if (one.card.key === key) held.push(one);
  }
  const isOf = (kind: string) => held.find(({ state }) => state.kind === kind);
  // what may cost now comes first
  return isOf("running") ?? isOf("ended") ?? isOf("elsewhere") ?? isOf("resumable");
}

/** The folder to which an attempt without a record is moved. */
export function lostFolderOf(path: string): string {
  return join(dirname(dirname(path)), "lost", basename(path));
}

/** Undefined until the attempt has ended. */
export function attemptEnd(path: string): AttemptEnd | undefined {
  return read(endFormat, join(path, "end.json"));
}

/** Names the person who stopped the attempt: its supervisor sees only a signal. */
export const stopFile = "stop.json";

/**
 * Written by a supervisor that is asked to end. Shows the reason for an attempt that was killed before its end was
 * written.
 */
export const endingFile = "ending.json";

/** Why an attempt without an end goes on under another supervisor. */
export const brokenFile = "broken-off.json";

export function breakOff(path: string, detail: string): void {
  writeWhole(join(path, brokenFile), canonicalJson({ formatVersion: 1, detail }));
}

/** The cause of a requested end; undefined without a request. */
export function toldToEnd(path: string): EndCause | undefined {
  return existsSync(join(path, endingFile)) ? whoTold(path) : undefined;
}

/** The cause for an attempt that was asked to end. */
export function whoTold(path: string): EndCause {
  const by = stoppedBy(path);
  if (by !== undefined) return { kind: "stopped", detail: by };
  return { kind: "terminated", detail: "its supervisor was sent SIGTERM" };
}

/** The cause of an end by a failure of the stage. */
export function failedFor({ cause, detail }: { cause: FailureCause; detail: string }): EndCause {
  return { kind: "failed", detail: `${cause}: ${detail}` };
}

/** The person who has asked the attempt to end; undefined if none has. */
export function stoppedBy(path: string): string | undefined {
  return read(stopRequest, join(path, stopFile))?.by;
}

export function supervisorFile(path: string): string {
  return join(path, claimFile);
}

/** Whether the attempt failed or was ended, and its living supervisor is about to move the folder. */
export function isBeingMoved({ path, state }: AttemptFolder): boolean {
  if (state.kind !== "ended" || state.end.result.kind === "succeeded") return false;
  const supervisor = look(supervisorFile(path))?.owner;
  return supervisor !== undefined && lifeOf(supervisor) === "alive";
}

/** Makes this process the supervisor of the attempt. Throws where the folder was removed. */
export function claimAttempt(path: string): void {
  const own = join(path, `supervisor.${processName}.tmp`);
  writeFileSync(own, JSON.stringify({ ...thisProcess(), folder: statSync(path).ino }));
  try {
    linkSync(own, supervisorFile(path)); // a link: only one process succeeds, and the file is complete
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * Whether the folder is there and no supervisor has claimed the attempt. Then none can claim it later, and the
 * folder may be removed.
 */
export function isUnclaimed(path: string): boolean {
  try {
    claimAttempt(path);
    utimesSync(supervisorFile(path), 0, 0); // no sign of the attempt's life, up to which it costs
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST" || !existsSync(path)) return false;
    throw error;
  }
}

/** Undefined where the file is missing or unusable. */
function read<const Schema extends object>(schema: Schema, path: string): TypeOf<Schema> | undefined {
  const reading = readVersioned(schema, path);
  return reading?.kind === "ok" ? reading.value : undefined;
}

/** Undefined if the file is missing or not JSON. Throws OtherFormat; its message starts with `what`. */
function readVersioned<const Schema extends object>(
  schema: Schema,
  path: string,
  what = path,
): Reading<TypeOf<Schema>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // cards are not synced: a power cut tears the card together with the rest of its attempt, and nothing runs any
    // more
    if (code === undefined || code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { kind: "unreadable", cause: code };
  }
  const { formatVersion, parts } = Object(value) as { formatVersion?: unknown; parts?: unknown };
  refuseOther(what, formatVersion, 1);
  refuseOther(`the key of ${what}`, (Object(parts) as { keyFormat?: unknown }).keyFormat, attemptKeyFormat);
  return checkFormat(schema, value);
}
