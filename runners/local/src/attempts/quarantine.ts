// Moves the whole folder of an attempt that ended through no fault of its agent to `.mlrb/attempts/lost`, with its
// cause and cost. A quarantined attempt is not a record; `attempts adopt` makes a record of one that had ended.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { Redactor } from "@mlrb/core/ports/redactor";
import type { AttemptCard } from "@mlrb/formats/attempt/attempt-card";
import { type EndCause, type Quarantine, quarantineCause } from "@mlrb/formats/attempt/attempt-end";
import type { LastSpending } from "@mlrb/formats/attempt/last-spending";
import { readFormat } from "@mlrb/formats/read-format";
import { callsOf } from "@mlrb/kit/attempts/last-spending";
import { claimsOfJobs } from "@mlrb/kit/attempts/open-job";
import { isFullDisk, writeReserved } from "@mlrb/kit/files/full-disk";
import { readFrom } from "@mlrb/kit/files/read-from";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { canonicalJson } from "@mlrb/kit/json-file";
import { logCap } from "@mlrb/kit/processes/bounded-log";
import { capLog } from "../stage/cap-log.ts";
import { logPath } from "../stage/log-path.ts";
import { ifReadable } from "../store/if-readable.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { heldMs, isOnCluster, spentBy } from "./attempt-cost.ts";
import { attemptEnd, endingFile, lostFolderOf, type PlacedAttempt } from "./attempt-folders.ts";
import { knowsSecrets } from "./secret-marks.ts";

export type Quarantined = Quarantine & { folder: string };

export const causeFile = "cause.json";

/**
 * Moves an attempt whose processes are dead. Returns undefined where the attempt produced and spent nothing; the
 * folder then stays. Where another process was quicker, returns that process's result. `secrets`: values that the
 * log may hold.
 */
export function quarantine(
  ...[attempt, cause, state, secrets]: Parameters<typeof move>
): Quarantined | undefined {
  const { path } = attempt;
  try {
    const moved = move(attempt, cause, state, secrets);
    if (moved || existsSync(path)) return moved;
  } catch (error) {
    if (existsSync(path)) throw error;
  }
  return quarantineIn(lostFolderOf(path), state.root);
}

function move(
  attempt: PlacedAttempt,
  cause: EndCause,
  state: Pick<StateFolder, "root" | "logs">,
  secrets?: Record<string, string>,
): Quarantined | undefined {
  const { path, card } = attempt;
  const to = lostFolderOf(path);
  const durationMs = heldMs(attempt, attemptEnd(path)?.durationMs);
  const { cost, spending } = spentBy(attempt, durationMs);
  const calls = spending ? callsOf(spending) : 0;
  const began = hasBegun(attempt);
  const mayHaveSpent = calls > 0 || (began && (card.gpus > 0 || paysUnseen(card, spending)));
  if (!holdsSomething(join(path, "out")) && !mayHaveSpent) return undefined;
  const left: Quarantine = { formatVersion: 1, cause, durationMs, cost, spending };
  removeFolder(join(path, "in")); // copies from the store: removing them makes room for the files below
  keepLog(attempt, state.logs, secrets);
  writeReserved(join(path, causeFile), canonicalJson(left, 2));
  mkdirSync(join(to, ".."), { recursive: true });
  renameSync(path, to);
  return { ...left, folder: relative(state.root, to) };
}

/** Time of the quarantine, in ms since the epoch; 0 without a kept cause. */
export function quarantinedMs(path: string): number {
  return statSync(join(path, causeFile), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The cause and cost in a folder of `lost/`. Undefined if they cannot be read. */
export function quarantineIn(path: string, root: string): Quarantined | undefined {
  const reading = ifReadable(() => readFormat(quarantineCause, readFileSync(join(path, causeFile), "utf8")));
  return reading?.kind === "ok" ? { ...reading.value, folder: relative(root, path) } : undefined;
}

/**
 * Whether the attempt began. Otherwise it held no GPU and spent nothing. The run that follows the attempt removes
 * the log; the supervisor's reserved files stay. On a cluster they and the log are there before a job begins.
 */
function hasBegun(attempt: PlacedAttempt): boolean {
  const { path } = attempt;
  if (isOnCluster(attempt)) return claimsOfJobs(path).length > 0;
  return ["log", endingFile, `${endingFile}.reserved`].some((file) => existsSync(join(path, file)));
}

/**
 * Whether the attempt had secrets and no meter counts its spending. A harness with a ledger counts from before its
 * first call.
 */
function paysUnseen({ secrets, gives }: AttemptCard, spending: LastSpending | null): boolean {
  return secrets.length > 0 && spending === null && !gives.some(({ name }) => name === "ledger");
}

/**
 * The log may hold secrets. If all secrets are known, the log is kept without them; otherwise the redacted copy
 * among the logs is kept.
 */
function keepLog({ path, card }: PlacedAttempt, logs: string, secrets?: Record<string, string>): void {
  const log = join(path, "log");
  if (card.secrets.length === 0) {
    capLog(log);
    return;
  }
  const clean = logPath(logs, card.slot.stage);
  try {
    const known = secrets !== undefined && knowsSecrets(path, secrets);
    const text = known ? withoutSecrets(log, secrets) : existsSync(clean) ? readFileSync(clean) : undefined;
    removeFolder(log);
    if (text !== undefined) writeFileSync(log, text);
  } catch (error) {
    removeFolder(log); // a full disk; the copy among the logs stays
    if (!isFullDisk(error)) throw error;
  }
}

/** Keeps only the end of a long log: its middle may be missing. */
function withoutSecrets(log: string, secrets: Record<string, string>): Buffer | undefined {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return undefined;
  const redactor = new Redactor(secrets);
  const from = Math.max(0, size - logCap.tailBytes);
  const read = readFrom(log, from) ?? Buffer.alloc(0);
  const bytes = from > 0 ? read.subarray(read.indexOf(10) + 1) : read; // half a secret would not be detected
  return Buffer.concat([redactor.push(bytes), redactor.end()]);
}

const causeBefore: Record<EndCause["kind"], string> = {
  stopped: "stopped: ",
  terminated: "terminated: ",
  "disk-full": "no space left on the disk: ",
  "host-gone": "its host is gone: ",
  "supervisor-lost": "",
  failed: "",
};

export function causeWords({ kind, detail }: EndCause): string {
  return causeBefore[kind] + detail;
}

export function keptWords({ folder, cost }: Pick<Quarantined, "folder" | "cost">): string {
  const { gpuHours, dollars } = cost;
  const took = [
    gpuHours ? `${gpuHours.toFixed(2)} GPU hours` : "",
    dollars === null ? "an unknown number of dollars" : dollars ? `${dollars.toFixed(2)} dollars` : "",
  ].filter(Boolean);
  return `what it had done${took.length > 0 ? ` for ${took.join(" and ")}` : ""} is kept in ${folder}`;
}

function holdsSomething(folder: string): boolean {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).some(
      (entry) =>
        entry.isFile() &&
        !entry.name.endsWith(".reserved") &&
        statSync(join(entry.parentPath, entry.name)).size > 0,
    );
  } catch (error) {
    // an unreadable folder is not an empty one
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}
