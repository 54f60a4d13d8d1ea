// One stage's container from its start to its end, with a clock and two ways to end it. Its removal is the caller's.

import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest, Running } from "@mlrb/core/ports/executor";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { boundLog } from "@mlrb/kit/processes/bounded-log";
import { followContainer } from "./container-end.ts";
import type { ContainerEngine } from "./container-engine.ts";
import { graceS } from "./stage-flags.ts";
import { lastLine, stageOutcome } from "./stage-outcome.ts";

export type ToRun =
  | { failed: string; line?: string }
  | {
      engine: ContainerEngine;
      id: string;
      begin: boolean;
      where: Record<string, string>;
      /** How much of its time limit is gone already. */
      spentMs: number;
    };

export type RunContainerOptions = {
  log: string;
  limits: ExecutionRequest["limits"];
  patienceMs: number;
  /** Called with the container once it has ended, or was not begun. */
  done: (engine: ContainerEngine, id: string) => void;
};

export function runContainer(getReady: () => Promise<ToRun>, options: RunContainerOptions): Running {
  const { log, limits, patienceMs, done } = options;
  let why: "time-limit" | "cancelled" | undefined;
  let ready: Extract<ToRun, { id: string }> | undefined;
  let over = false;
  const timers: NodeJS.Timeout[] = [];

  /** Again and again while it is just being started, or the engine is away. */
  const send = async (name: "TERM" | "KILL") => {
    while (ready && !over) {
      const { engine, id } = ready;
      const sent = await engine.call(["kill", "--signal", name, id]);
      if (sent.ok || sent.trouble.kind === "container-missing") return;
      await sleep(100);
    }
  };
  const end = (reason: "time-limit" | "cancelled") => {
    why ??= reason;
    void send("TERM");
    timers.push(setTimeout(() => void send("KILL"), graceS * 1000));
  };
  /** A timer holds 24.8 days at most; a longer limit takes several. */
  const watch = (limit: number) => {
    const left = limit - performance.now();
    if (left <= 0) end("time-limit");
    else timers.push(setTimeout(() => watch(limit), Math.min(left, 2 ** 31 - 1)));
  };

  const ended = (async (): Promise<ExecutionResult> => {
    const got = await getReady();
    if ("failed" in got) {
      if (why === "cancelled") return { kind: "cancelled" };
      say(log, `mlrb: ${got.failed}\n${pasteLine(got.line)}`);
      return { kind: "failed", cause: "machine", detail: got.failed };
    }
    const { engine, id, begin, where, spentMs } = got;
    if (why !== undefined) {
      done(engine, id);
      return { kind: "cancelled" };
    }
    ready = got;
    if (limits.timeMs !== undefined) watch(performance.now() + limits.timeMs - spentMs);
    const bound = boundLog(log);
    const containerEnd = await followContainer(engine, id, { begin, patienceMs });
    bound.release();
    over = true;
    for (const timer of timers) clearTimeout(timer);
    done(engine, id);
    const outcome = stageOutcome({ why, end: containerEnd, limits, where });
    const line = lastLine(outcome);
    if (line !== undefined) say(log, line);
    if (outcome.kind === "failed" && containerEnd.kind === "trouble") say(log, pasteLine(containerEnd.line));
    return outcome;
  })();

  return {
    ended,
    askToEnd: () => end("cancelled"),
    kill: () => {
      why ??= "cancelled";
      void send("KILL");
    },
  };
}

function say(log: string, text: string): void {
  try {
    appendFileSync(log, text);
  } catch {
    // the disk's trouble is told by whatever needs the disk; the outcome says the same
  }
}

function pasteLine(line: string | undefined): string {
  return line === undefined ? "" : `mlrb: to see it again: ${line}\n`;
}
