// The process that carries an attempt through and outlives the run that began it. It starts the attempt's stage as
// the local executor does, enforces the limits, ends leftover processes, and writes the end. Detached, so that no
// signal of a terminal and no death of the runner reaches it. Usage: `node supervisor.ts FOLDER < request.json`.
// The request holds secrets and is never written to a disk.

import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest, Running } from "@mlrb/core/ports/executor";
import type { AttemptEnd, EndCause } from "@mlrb/formats/attempt/attempt-end";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { heldClaim } from "@mlrb/kit/attempts/attempt-claim";
import { extractDiskImages } from "@mlrb/kit/files/disk-image";
import { isFullDisk, reserveFile, writeReserved } from "@mlrb/kit/files/full-disk";
import { canonicalJson } from "@mlrb/kit/json-file";
import { quiet } from "@mlrb/kit/processes/process-table";
import { sealTimes } from "@mlrb/kit/processes/seal-times";
import { type GpuHold, handOver, leaseOf } from "../leases/gpu-leases.ts";
import { startHeart } from "../leases/heartbeat.ts";
import { localExecutor } from "../process/local-executor.ts";
import { machineHelp } from "../run/machine-help.ts";
import { ifReadable } from "../store/if-readable.ts";
import { statePaths } from "../store/state-folder.ts";
import {
  attemptFolder,
  breakOff,
  claimAttempt,
  endingFile,
  failedFor,
  stopFile,
  stoppedBy,
  supervisorFile,
  whoTold,
} from "./attempt-folders.ts";
import { completeAttempt } from "./complete-attempt.ts";
import { quarantine } from "./quarantine.ts";

/** The signals that end a supervisor: in order, or at once. All other signals from a terminal are ignored. */
export const endSignals = { ask: "SIGTERM", kill: "SIGUSR2" } as const;

/**
 * The input of a supervisor. `gpus` names the lease that the supervisor takes over from the run. `adopts`: the
 * stage runs elsewhere, and its former supervisor died.
 */
export type Supervision = { request: ExecutionRequest; gpus?: GpuHold; adopts?: true };

/** The stage of an attempt, as its supervisor started it. */
export type SupervisedStage = Running & {
  /** Why the attempt goes on in another place; undefined where the end of the stage is the attempt's. */
  brokenOff?(): string | undefined;
  /** How long it has run, ms, where that is less than the time since its start. */
  ranMs?(): number;
  /** Ends this process, and leaves a stage that runs elsewhere to another supervisor. */
  abandon?(): void;
  close?(): void | Promise<void>;
};

export type StartStage = (supervision: Supervision, folder: string) => Promise<SupervisedStage>;

const startHere: StartStage = async ({ request }) => {
  const executor = localExecutor(request.root, { graceMs: sealTimes.kill });
  const stage = executor.start(request);
  return {
    ended: stage.ended,
    askToEnd: () => stage.askToEnd(),
    kill: () => stage.kill(),
    close: () => executor.close?.(),
  };
};

/** Reserved space for the end of the attempt, taken before any spending: the disk may be full by then. */
const reservedBytes = 16 << 10;
const noteBytes = 4 << 10;
const retryMs = 1_000;
/** How long the end of a stage may precede a signal that was sent to its supervisor at the same time. */
const sameMomentMs = 300;

async function supervise(folder: string, supervision: Supervision, start: StartStage): Promise<void> {
  const { request, gpus } = supervision;
  claimAttempt(folder); // from here on this process owns the attempt; throws without a folder
  startHeart(supervisorFile(folder)); // runs on other hosts see nothing else of it
  const isOwn = heldClaim(folder);
  const begin = performance.now();
  let asked: "ask" | "kill" | undefined;
  const finish = (result: ExecutionResult) =>
    untilWritten(folder, async () => {
      if (!isOwn()) return; // another supervisor has taken the attempt over, or the attempt was removed
      const cause = causeOf(result, asked !== undefined, folder);
      // for a following run that requested no end, the end is a failure; a stop by a person is not retried
      const by = cause?.kind === "stopped" ? "operator" : "machine";
      await leave(folder, request.env, {
        formatVersion: 1,
        result:
          cause && result.kind === "cancelled" ? { kind: "failed", cause: by, detail: cause.detail } : result,
        durationMs: Math.round(running?.ranMs?.() ?? performance.now() - begin),
        ...(cause && { cause }),
      });
    });
  let running: SupervisedStage | undefined;
  let over = false;
  const end = (how: "ask" | "kill") => {
    // a shutdown of this host is no end of what runs elsewhere; `attempts stop` and a second Ctrl-C say who asks
    if (how === "ask" && !over && running?.abandon && stoppedBy(folder) === undefined) running.abandon();
    asked = how;
    if (how === "ask") running?.askToEnd();
    else running?.kill();
    if (running) sayEnding(folder);
  };
  // before anything starts: without a handler, a signal would end this process without a message
  for (const how of ["ask", "kill"] as const) process.on(endSignals[how], () => end(how));
  if (!reserveRoom(folder)) return; // nothing was spent: the run that waits sees that this process is gone
  const held = gpus && handOver(gpus);
  if (gpus && !held) {
    const detail = "its GPUs were somebody else's before it began: the run that held them was taken for dead";
    return finish({ kind: "failed", cause: "machine", detail });
  }
  let result: ExecutionResult;
  try {
    reserveFile(join(folder, endingFile), noteBytes); // the last step before the stage: shows that the stage began
    running = await start(supervision, folder);
    if (asked) end(asked);
    const watch = whileWanted(folder, {
      isOwn,
      end: () => running?.kill(),
      lose: () => (running?.abandon ? running.abandon() : running?.kill()),
    });
    const ended = await running.ended;
    over = true; // what Slurm said of the job is known only to this process, until it is written
    result = withReport(ended, request.work);
    clearInterval(watch);
    await running.close?.();
  } catch (error) {
    result = { kind: "failed", cause: "machine", detail: troubleWords(error, folder) };
  }
  // a signal to a whole container also reaches the stage, whose end may be reported first
  if (result.kind !== "succeeded" && asked === undefined) await sleep(sameMomentMs);
  if (held) leaseOf(held, request.gpus).release(); // its process tree is dead
  const broken = asked === undefined ? running?.brokenOff?.() : undefined;
  if (broken === undefined) await finish(result);
  else if (isOwn()) breakOff(folder, broken); // without an end, so that the run continues the attempt
}

function reserveRoom(folder: string): boolean {
  try {
    for (const file of ["end.json", "cause.json"]) reserveFile(join(folder, file), reservedBytes);
    reserveFile(join(folder, stopFile), noteBytes);
    return true;
  } catch (error) {
    say(troubleWords(error, folder));
    process.exitCode = 1;
    return false;
  }
}

/** Writes the end, and quarantines an attempt that became no record. */
async function leave(folder: string, env: Record<string, string>, end: AttemptEnd): Promise<void> {
  if (!existsSync(folder)) return; // the attempt was removed
  const attempt = attemptFolder(dirname(folder), basename(folder));
  const { cause, ...rest } = end;
  // the attempt may have ended normally, e.g. while it was asked to end
  const complete = cause && attempt && typeof (await completeAttempt(attempt)) === "object";
  const last: AttemptEnd = complete ? { ...rest, result: { kind: "succeeded" } } : end;
  writeReserved(join(folder, "end.json"), canonicalJson(last));
  if (!last.cause || !attempt) return;
  const state = statePaths(dirname(dirname(dirname(dirname(folder)))));
  const secrets = attempt.card.secrets.flatMap((name) => (env[name] ? [[name, env[name]] as const] : []));
  await extractDiskImages(folder);
  quarantine(attempt, last.cause, state, Object.fromEntries(secrets)); // an attempt without work or costs stays for its run
}

/** Retries until the disk has room: the result may have cost a day. */
async function untilWritten(folder: string, write: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await write();
    } catch (error) {
      if (!isFullDisk(error)) throw error;
      if (tries === 0) say(troubleWords(error, folder));
      await sleep(retryMs);
    }
  }
}

/** For readers during the end, and for the case that this process is killed before it writes the end. */
function sayEnding(folder: string): void {
  const file = join(folder, endingFile);
  const text = JSON.stringify({ formatVersion: 1, at: new Date().toISOString() });
  // where it cannot be written, the final end file holds the same cause
  quiet(() => !existsSync(file) && existsSync(folder) && writeReserved(file, text));
}

/** Undefined after success. */
function causeOf(result: ExecutionResult, asked: boolean, folder: string): EndCause | undefined {
  if (result.kind === "succeeded") return undefined;
  if (asked) return whoTold(folder);
  if (result.kind === "cancelled") return { kind: "failed", detail: "its folder was removed" };
  if (/no space left|ENOSPC|EDQUOT/i.test(result.detail)) return { kind: "disk-full", detail: result.detail };
  return failedFor(result);
}

function troubleWords(error: unknown, folder: string): string {
  const { message, code } = error as NodeJS.ErrnoException;
  const help = machineHelp(code);
  return help === undefined ? `its supervisor failed: ${message}` : `${help} (${message}; ${folder})`;
}

/** Writes to the supervisor's own log; a full disk loses the message. */
function say(words: string): void {
  process.stderr.on("error", () => {});
  process.stderr.write(`${words}\n`);
}

const lookMs = 2_000;

/**
 * Ends the attempt once its folder is removed, usually with the whole state: no program could find the attempt
 * again. Also once another supervisor has taken the attempt over.
 */
function whileWanted(
  folder: string,
  { isOwn, end, lose }: { isOwn: () => boolean; end: () => void; lose: () => void },
): NodeJS.Timeout {
  let missing = 0;
  return setInterval(() => {
    try {
      statSync(folder);
      missing = 0;
      if (!isOwn()) lose();
    } catch (error) {
      // any other error is a temporary problem of a disk or a file server
      if ((error as NodeJS.ErrnoException).code === "ENOENT" && ++missing > 2) end();
    }
  }, lookMs);
}

/** Adds the stage's report: where the stage ran, or that the machine or the operator caused its failure. */
function withReport(result: ExecutionResult, work: string): ExecutionResult {
  const where = readWords(join(work, "where.json"));
  const trouble = readWords(join(work, "trouble.json"));
  if (result.kind === "succeeded" && where) return { ...result, where: { ...result.where, ...where } };
  if (result.kind === "failed" && result.cause === "exit-code" && trouble?.detail) {
    const { cause: whose, detail } = trouble;
    // a request that the provider refuses is refused again: its stage is not retried, unlike after a machine's
    // failure
    const cause = whose === "harness" ? "exit-code" : whose === "operator" ? "operator" : "machine";
    return { kind: "failed", cause, detail };
  }
  return result;
}

/** Undefined for most stages, which report nothing. */
function readWords(file: string): Record<string, string> | undefined {
  return ifReadable(() => JSON.parse(readFileSync(file, "utf8")) as Record<string, string>);
}

/** The main program of a supervisor. */
export async function superviseAttempt(start: StartStage): Promise<void> {
  for (const signal of ["SIGHUP", "SIGINT"] as const) process.on(signal, () => {});
  const request = await text(process.stdin);
  // a run that was killed before it had written the whole request expects nothing
  if (request.endsWith("\n")) await supervise(process.argv[2]!, JSON.parse(request) as Supervision, start);
}

if (import.meta.main) await superviseAttempt(startHere);
