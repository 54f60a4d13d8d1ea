// Follows one stage's container from its start to its end, with a time limit and two ways to end it.
// The caller removes the container.

import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest, Running } from "@mlrb/core/ports/executor";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { boundLog } from "@mlrb/kit/processes/bounded-log";
import { quiet } from "@mlrb/kit/processes/process-table";
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
      /** How much of its time limit is already used. */
      spentMs: number;
    };

export type RunContainerOptions = {
  log: string;
  limits: ExecutionRequest["limits"];
  patienceMs: number;
  /** Called with the container once it has ended, or was not started. */
  done: (engine: ContainerEngine, id: string) => void;
};

type EndReason = "time-limit" | "cancelled";

export class ContainerRun implements Running {
  readonly ended: Promise<ExecutionResult>;
  readonly #options: RunContainerOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  #why: EndReason | undefined;
  #ready: Extract<ToRun, { id: string }> | undefined;
  #over = false;

  constructor(getReady: () => Promise<ToRun>, options: RunContainerOptions) {
    this.#options = options;
    this.ended = this.#follow(getReady);
  }

  async #follow(getReady: () => Promise<ToRun>): Promise<ExecutionResult> {
    const { log, limits, patienceMs, done } = this.#options;
    const got = await getReady();
    if ("failed" in got) {
      if (this.#why === "cancelled") return { kind: "cancelled" };
      append(log, `mlrb: ${got.failed}\n${pasteLine(got.line)}`);
      return { kind: "failed", cause: "machine", detail: got.failed };
    }
    const { engine, id, begin, where, spentMs } = got;
    if (this.#why !== undefined) {
      done(engine, id);
      return { kind: "cancelled" };
    }
    this.#ready = got;
    if (limits.timeMs !== undefined) this.#watch(performance.now() + limits.timeMs - spentMs);
    const bound = boundLog(log);
    const end = await followContainer(engine, id, { begin, patienceMs });
    bound.release();
    this.#over = true;
    for (const timer of this.#timers) clearTimeout(timer);
    done(engine, id);
    const outcome = stageOutcome({ why: this.#why, end, limits, where });
    const line = lastLine(outcome);
    if (line !== undefined) append(log, line);
    if (outcome.kind === "failed" && end.kind === "trouble") append(log, pasteLine(end.line));
    return outcome;
  }

  askToEnd(): void {
    this.#end("cancelled");
  }

  #end(reason: EndReason): void {
    this.#why ??= reason;
    void this.#send("TERM");
    this.#timers.push(setTimeout(() => void this.#send("KILL"), graceS * 1000));
  }

  kill(): void {
    this.#why ??= "cancelled";
    void this.#send("KILL");
  }

  /** Repeats while the container is being started or the engine is away. */
  async #send(signal: "TERM" | "KILL"): Promise<void> {
    while (this.#ready && !this.#over) {
      const { engine, id } = this.#ready;
      const sent = await engine.call(["kill", "--signal", signal, id]);
      if (sent.ok || sent.trouble.kind === "container-missing") return;
      await sleep(100);
    }
  }

  /** A timer holds 24.8 days at most; a longer limit takes several. */
  #watch(limit: number): void {
    const left = limit - performance.now();
    if (left <= 0) this.#end("time-limit");
    else this.#timers.push(setTimeout(() => this.#watch(limit), Math.min(left, 2 ** 31 - 1)));
  }
}

/** The disk's trouble is reported by what needs the disk; the outcome holds the same text. */
function append(log: string, text: string): void {
  quiet(() => appendFileSync(log, text));
}

function pasteLine(line: string | undefined): string {
  return line === undefined ? "" : `mlrb: to see it again: ${line}\n`;
}
