// The process that carries an attempt through, whatever becomes of the run that began it: it starts the
// attempt's stage as the local executor does, holds its limits, ends what it left running, and writes down
// how it ended. Detached, so that no terminal's signal and no runner's death reaches it.
//   node supervisor.ts FOLDER < request.json      the request holds secrets and so never lies on a disk
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { ExecutionRequest } from "@mlrb/core/executor";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { type AttemptEnd, claimAttempt } from "./attempt-folders.ts";
import { localExecutor } from "./local-executor.ts";

/** What ends it: in order, and at once. Everything else that a terminal sends is not meant for it. */
export const endSignals = { ask: "SIGTERM", kill: "SIGUSR2" } as const;

export async function supervise(folder: string, request: ExecutionRequest): Promise<void> {
  claimAttempt(folder); // from here on the attempt is this process's; without a folder it is nobody's
  const begin = performance.now();
  const executor = localExecutor(request.root);
  const running = executor.start(request);
  process.on(endSignals.ask, () => running.askToEnd());
  process.on(endSignals.kill, () => running.kill());
  const ended = await running.ended;
  const where = ended.kind === "succeeded" ? whereItRan(request.work) : undefined;
  const result =
    where && ended.kind === "succeeded" ? { ...ended, where: { ...ended.where, ...where } } : ended;
  const end: AttemptEnd = { formatVersion: 1, result, durationMs: Math.round(performance.now() - begin) };
  await executor.close?.();
  writeWhole(join(folder, "end.json"), canonicalJson(end));
}

/** What the stage told of its sandbox. */
function whereItRan(work: string): Record<string, string> | undefined {
  try {
    return JSON.parse(readFileSync(join(work, "where.json"), "utf8")) as Record<string, string>;
  } catch {
    return undefined; // not every durable stage has one
  }
}

if (import.meta.main) {
  for (const signal of ["SIGHUP", "SIGINT"] as const) process.on(signal, () => {});
  const request = await text(process.stdin);
  // a run that was killed before it had said everything wants nothing
  if (request.endsWith("\n")) await supervise(process.argv[2]!, JSON.parse(request) as ExecutionRequest);
}
