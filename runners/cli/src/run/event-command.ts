// `--on-event CMD`: a shell command that gets what a person may want to know at once, one JSON object on its
// standard input for each event: an attempt began to wait, an attempt ended, a stage failed, the run ended. The
// command decides nothing: a run goes on whatever it does.
import { spawn } from "node:child_process";
import type { Plan } from "@mlrb/core/plan/plan";
import { type OutcomeKind, outcomeCause } from "@mlrb/core/ports/outcome";
import type { RunEvent } from "@mlrb/local/run/run-request";
import { type ShownWait, shownWaitText, toldWait } from "../show/attempt-wait-text.ts";

export type EventCommandOptions = {
  /** Its names are in every object. */
  plan: Pick<Plan, "pipeline" | "profile">;
  /** What attempts wait for now. */
  waits: () => ShownWait[];
  say: (line: string) => void;
  /** After this time a command is killed. */
  limitMs?: number;
  lookMs?: number;
};

const commandLimitMs = 30_000;
const waitsLookMs = 5_000;

/** Undefined without a command. */
export function eventCommand(
  command: string | undefined,
  { plan, waits, say, limitMs = commandLimitMs, lookMs = waitsLookMs }: EventCommandOptions,
) {
  if (command === undefined) return undefined;
  const { pipeline, profile } = plan;
  let last: Promise<void> = Promise.resolve();
  let complained = false;
  let over = false;
  // one after the other, so that the command sees the events in their order
  const tell = (event: object) => {
    const line = `${JSON.stringify({ ...event, time: new Date().toISOString(), pipeline, profile })}\n`;
    last = last.then(async () => {
      if (over) return;
      const trouble = await carryOut(command, line, limitMs);
      if (trouble === undefined || complained) return;
      complained = true;
      say(`warning: --on-event: the command ${trouble}; later failures of it are not printed`);
    });
  };
  const told = new Map<string, string>();
  const look = () => {
    const now = new Map(waits().map((one) => [one.stage, one]));
    for (const stage of told.keys()) if (!now.has(stage)) told.delete(stage);
    for (const [stage, one] of now) {
      const { why, cause, whose, detail, since, giveUpAt } = one.waits[0]!;
      const what = toldWait(one, Date.now());
      if (what === undefined || told.get(stage) === what) continue;
      told.set(stage, what);
      const facts = { stage, why, cause, whose, detail, since, giveUpAt };
      tell({ event: "attempt-waits", ...facts, words: shownWaitText(one, Date.now()), mend: one.command });
    }
  };
  const timer = setInterval(look, lookMs).unref();
  return {
    ended(event: RunEvent): void {
      if (event.kind !== "ended") return;
      const { instance, outcome, durationMs } = event;
      const { durable } = instance.stage;
      const isNew = outcome.kind === "succeeded" || outcome.kind === "failed";
      if (!isNew || (outcome.kind === "succeeded" && !durable)) return;
      const cause = outcomeCause(outcome);
      const facts = { stage: instance.id, outcome: outcome.kind, durationMs, ...(cause && { cause }) };
      tell({ event: durable ? "attempt-ended" : "stage-failed", ...facts });
    },
    runEnded(counts: Record<OutcomeKind, number>): void {
      clearInterval(timer);
      tell({ event: "run-ended", ...counts });
    },
    /** Resolves when the command has run for every event, or after the limit of one command; the rest is then dropped. */
    async finished(): Promise<void> {
      const timer = setTimeout(() => (over = true), limitMs);
      await last;
      clearTimeout(timer);
    },
  };
}

/**
 * The command's failure in words. Its output goes to standard error. The whole group ends at the limit and with
 * this process: a shell that is killed leaves the programs of its pipeline running.
 */
function carryOut(command: string, input: string, limitMs: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const child = spawn("sh", ["-c", command], {
    stdio: ["pipe", process.stderr, process.stderr],
    detached: true,
  });
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {} // it has ended
  };
  const timer = setTimeout(end, limitMs);
  process.once("exit", end);
  const over = (trouble: string | undefined) => {
    clearTimeout(timer);
    process.off("exit", end);
    resolve(trouble);
  };
  child.on("error", (error) => over(`cannot be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal) over(`was ended by ${signal}, after at most ${limitMs / 1000} s`);
    else over(code === 0 ? undefined : `ended with exit ${code}`);
  });
  child.stdin.on("error", () => {}); // a command need not read
  child.stdin.end(input);
  return promise;
}
