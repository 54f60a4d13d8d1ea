// The process that carries an attempt through, whatever becomes of the run that began it: it starts the
// attempt's stage as the local executor does, holds its limits, ends what it left running, and writes down
// how it ended. Detached, so that no terminal's signal and no runner's death reaches it.
//   node supervisor.ts FOLDER < request.json      the request holds secrets and so never lies on a disk
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { ExecutionRequest, ExecutionResult } from "@mlrb/core/executor";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { type AttemptEnd, claimAttempt } from "./attempt-folders.ts";
import { type GpuHold, handOver, leaseOf } from "./gpu-leases.ts";
import { localExecutor } from "./local-executor.ts";

/** What ends it: in order, and at once. Everything else that a terminal sends is not meant for it. */
export const endSignals = { ask: "SIGTERM", kill: "SIGUSR2" } as const;

/** What a supervisor is told. `gpus` names the lease that it takes over from who starts it. */
export type Supervision = { request: ExecutionRequest; gpus?: GpuHold };

export async function supervise(folder: string, { request, gpus }: Supervision): Promise<void> {
  claimAttempt(folder); // from here on the attempt is this process's; without a folder it is nobody's
  const begin = performance.now();
  const finish = (result: ExecutionResult) => {
    const end: AttemptEnd = { formatVersion: 1, result, durationMs: Math.round(performance.now() - begin) };
    writeWhole(join(folder, "end.json"), canonicalJson(end));
  };
  const held = gpus && handOver(gpus);
  if (gpus && !held) {
    const detail = "its GPUs were somebody else's before it began: the run that held them was taken for dead";
    return finish({ kind: "failed", cause: "machine", detail });
  }
  const executor = localExecutor(request.root);
  const running = executor.start(request);
  process.on(endSignals.ask, () => running.askToEnd());
  process.on(endSignals.kill, () => running.kill());
  const watch = whileWanted(folder, () => running.kill());
  const result = told(await running.ended, request.work);
  clearInterval(watch);
  await executor.close?.();
  if (held) leaseOf(held, request.gpus).release(); // its process tree is dead
  finish(result);
}

const lookMs = 2_000;

/** Ends what nobody could ever find again: its folder was removed, with the whole state as a rule. */
function whileWanted(folder: string, end: () => void): NodeJS.Timeout {
  let missing = 0;
  return setInterval(() => {
    try {
      statSync(folder);
      missing = 0;
    } catch (error) {
      // any other error is a disk or a file server in trouble, which passes
      if ((error as NodeJS.ErrnoException).code === "ENOENT" && ++missing > 2) end();
    }
  }, lookMs);
}

/** With what the stage itself told: in what it ran, or that its failure is the machine's or the operator's. */
function told(result: ExecutionResult, work: string): ExecutionResult {
  const words = {
    where: readWords(join(work, "where.json")),
    trouble: readWords(join(work, "trouble.json")),
  };
  if (result.kind === "succeeded" && words.where)
    return { ...result, where: { ...result.where, ...words.where } };
  if (result.kind === "failed" && result.cause === "exit-code" && words.trouble?.detail) {
    const cause = words.trouble.cause === "operator" ? "operator" : "machine";
    return { kind: "failed", cause, detail: words.trouble.detail };
  }
  return result;
}

function readWords(file: string): Record<string, string> | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  } catch {
    return undefined; // most stages tell nothing
  }
}

if (import.meta.main) {
  for (const signal of ["SIGHUP", "SIGINT"] as const) process.on(signal, () => {});
  const request = await text(process.stdin);
  // a run that was killed before it had said everything wants nothing
  if (request.endsWith("\n")) await supervise(process.argv[2]!, JSON.parse(request) as Supervision);
}
