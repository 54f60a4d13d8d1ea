// The folders of attempts that go on. Each has one of its own beside the records, not in the folder of the
// run that began it, for it outlives that run: a process of its own supervises it (supervisor.ts), and says
// here that it lives and how it ended. What an attempt is of stands here too, so that any later run can keep
// it as a record, whatever it was asked for itself.

import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
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
import { checkFormat } from "@mlrb/formats/read-format";
import type { TypeOf } from "@mlrb/formats/schema";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { processName } from "@mlrb/kit/processes/process-name";
import { look } from "../leases/heartbeat.ts";
import { lifeOf, thisProcess } from "../leases/owner.ts";
import { refuseNewer } from "../store/newer-format.ts";
import { raiseFormat, type StateFolder } from "../store/state-folder.ts";

export type AttemptFolder = {
  name: string;
  path: string;
  card: AttemptCard;
  state:
    | { kind: "running"; supervisor: Owner }
    | { kind: "ended"; end: AttemptEnd }
    /** The run that prepares it lives. */
    | { kind: "preparing" }
    /** On another host, which alone can tell. */
    | { kind: "elsewhere"; owner: Owner }
    /** Its supervisor, or the run that had not started one yet, is gone without a word. */
    | { kind: "lost"; supervisor: Owner | undefined };
};

/** The mark of every process of the attempt: letters, digits and dashes, as names of sandboxes want it. */
export function attemptToken(name: string): string {
  return `mlrb-attempt-${name}-`;
}

let made = 0;

/**
 * Makes a folder with the parts that a stage works in. It is put in place whole: one without its card would be nobody's.
 * What a kill leaves of it a later run clears (clear-unfinished).
 */
export function makeAttemptFolder(running: string, card: AttemptCard): { name: string; path: string } {
  const name = `${card.key.slice(0, 16)}-${processName}-${++made}`;
  const path = join(running, name);
  const unfinished = join(dirname(running), "records", `tmp-${processName}-new-${made}`);
  raiseFormat({ state: dirname(dirname(running)) });
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

/** Every attempt that goes on or has ended unheard, in the order of names. What has no card yet is left out. */
export function attemptFolders(running: string): AttemptFolder[] {
  if (!existsSync(running)) return [];
  return readdirSync(running)
    .sort()
    .flatMap((name) => {
      const folder = attemptFolder(running, name);
      return folder ? [folder] : [];
    });
}

export function attemptFolder(running: string, name: string): AttemptFolder | undefined {
  const path = join(running, name);
  const card = read(attemptCard, join(path, "attempt.json"), `attempt ${name} in ${running}`);
  return card && { name, path, card, state: stateOf(path, card) };
}

function stateOf(path: string, card: AttemptCard): AttemptFolder["state"] {
  // in this order: a supervisor that ends while it is looked at has said how before
  const supervisor = look(supervisorFile(path))?.owner;
  const life = lifeOf(supervisor ?? card.by);
  const end = attemptEnd(path);
  if (end) return { kind: "ended", end };
  if (life === "elsewhere") return { kind: "elsewhere", owner: supervisor ?? card.by };
  if (supervisor) return life === "alive" ? { kind: "running", supervisor } : { kind: "lost", supervisor };
  return life === "alive" ? { kind: "preparing" } : { kind: "lost", supervisor };
}

/** The attempt of this key that another run has begun: it goes on, or has ended and nobody has kept it yet. */
export function attemptOf(
  key: string,
  { state }: { state: Pick<StateFolder, "running"> },
): AttemptFolder | undefined {
  const found = attemptFolders(state.running).filter(({ card }) => card.key === key);
  const wanted = ({ state: { kind } }: AttemptFolder) => kind === "running" || kind === "ended";
  return found.find(wanted);
}

/** Where an attempt's folder goes that ends without a record. */
export function lostFolderOf(path: string): string {
  return join(dirname(dirname(path)), "lost", basename(path));
}

/** Undefined as long as it has not ended. */
export function attemptEnd(path: string): AttemptEnd | undefined {
  const file = join(path, "end.json");
  return read(endFormat, file, file);
}

/** Says who asked that it is stopped: else its supervisor knows only that it was sent a signal. */
export const stopFile = "stop.json";

/** A supervisor makes it as it is told to end: one that is killed before it could say how it ended was told to. */
export const endingFile = "ending.json";

/** Why it is being ended, or was; undefined where nobody told it to. */
export function toldToEnd(path: string): EndCause | undefined {
  return existsSync(join(path, endingFile)) ? whoTold(path) : undefined;
}

/** Of an attempt that was told to end. */
export function whoTold(path: string): EndCause {
  const file = join(path, stopFile);
  const by = read(stopRequest, file, file)?.by;
  if (by !== undefined) return { kind: "stopped", detail: by };
  return { kind: "terminated", detail: "its supervisor was sent SIGTERM" };
}

export function supervisorFile(path: string): string {
  return join(path, "supervisor.json");
}

/** Says that this process supervises the attempt. Throws where the folder is gone: nobody wants it any more. */
export function claimAttempt(path: string): void {
  const own = join(path, `supervisor.${processName}.tmp`);
  writeFileSync(own, JSON.stringify(thisProcess()));
  try {
    linkSync(own, supervisorFile(path)); // by a link: one only, and whole
  } finally {
    rmSync(own, { force: true });
  }
}

/** Whether no supervisor has claimed it; then none can any more, and its folder may be removed. */
export function isUnclaimed(path: string): boolean {
  try {
    claimAttempt(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Undefined where there is none. Throws NewerFormat, with `what` before it: it cannot be known what that would overlook. */
function read<const Schema extends object>(
  schema: Schema,
  path: string,
  what: string,
): TypeOf<Schema> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined; // not there, or gone meanwhile; what is there was put in place whole
  }
  const { formatVersion, parts } = Object(value) as { formatVersion?: unknown; parts?: unknown };
  refuseNewer(what, formatVersion, 1);
  refuseNewer(`the key of ${what}`, (Object(parts) as { keyFormat?: unknown }).keyFormat, attemptKeyFormat);
  const reading = checkFormat(schema, value);
  return reading.kind === "ok" ? reading.value : undefined;
}
