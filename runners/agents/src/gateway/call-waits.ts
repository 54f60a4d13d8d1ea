// Holds a program's call that its provider cannot take now, or will not take until a person has fixed something.
// The request stays open with everything in the sandbox frozen, and is sent again until it is answered, patience
// ends or the program goes away. Programs behind the gateway retry for minutes at most; a person takes hours.
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { Meter } from "../attempt/meter.ts";
import { busyMs } from "../model/ask-model.ts";
import { modelCauses } from "../model/failure-causes.ts";
import type { ModelFailure } from "../model/model-client.ts";
import type { Tries } from "../model/provider-trouble.ts";
import { operatorPause, retryPause } from "../waiting/patience.ts";
import { failureWait } from "../waiting/wait-board.ts";
import type { AttemptWaiting } from "../waiting/waiting.ts";
import { whilePaused } from "../waiting/while-paused.ts";
import type { ProviderAnswer } from "./provider-answer.ts";
import type { FailedTry } from "./try-call.ts";

export type CallWaitsOptions = {
  meter: Pick<Meter, "waiting" | "leftMs">;
  waiting: AttemptWaiting;
  /** Ends everything with the gateway. */
  signal: AbortSignal;
  /** Whether a call was answered before a restart of the attempt. */
  answeredBefore: boolean;
};

type Side = "provider" | "operator";
type WaitStep = { kind: "wait"; why: Side; waitMs: number; leftMs: number; since: number };
type Step =
  | WaitStep
  /** The program gets the failure and decides itself. */
  | { kind: "pass" }
  | ({ kind: "lost" } & Tries);

export type HeldCall = {
  id: string;
  model: string;
  first: FailedTry;
  /**
   * Nothing was sent if it returns `over` (the attempt may spend no more) or `busy` (calls in flight may spend
   * what is left, so one of them must end first).
   */
  again(): Promise<{ answer: ProviderAnswer } | FailedTry | "over" | "busy">;
  /** Records a failure and the wait before the next try. */
  failed(failure: ModelFailure, waitMs: number): void;
  /** Aborted when the program goes away. */
  gone: AbortSignal;
};

export type Held =
  | { answer: ProviderAnswer }
  | { failed: FailedTry; lost?: Tries }
  | "over"
  /** The program went away, or the attempt is over. */
  | { gone: ModelFailure };

/** Trouble of one model: another may work, and the program may not need this one. */
const ofModel: ModelCause[] = ["unknown-model", "wrong-address", "no-tool-calls"];
/** Until the first answer, and for this long, nothing can be lost: a wrong key is reported at once. */
const nothingLostMs = 60_000;

/** Id on the board of a failure that was passed to the program, which tries again by itself. */
const passedOn = "passed on";

const untroubled = (): Record<Side, { since?: number; tries: number }> => ({
  ...{ provider: { tries: 0 }, operator: { tries: 0 } },
});

export class CallWaits {
  readonly #options: CallWaitsOptions;
  readonly #startMs: number;
  /** Models that have answered. */
  readonly #models = new Set<string>();
  #trouble = untroubled();
  readonly #pausing = new Set<AbortController>();
  /** Answers on their way to the program. */
  readonly #passing = new Set<Promise<unknown>>();

  constructor(options: CallWaitsOptions) {
    this.#options = options;
    this.#startMs = options.meter.leftMs();
  }

  /** A call was answered whole. */
  answered(model: string): void {
    this.#models.add(model);
    this.#options.waiting.board.clear(passedOn);
    this.#forget();
    this.#wake();
  }

  #forget(): void {
    this.#trouble = untroubled();
  }

  /** Resolves once no person pauses the attempt, or when it ends. Patience then begins again: a pause has no limit. */
  async unpaused(id = "next call"): Promise<void> {
    const { meter, waiting, signal } = this.#options;
    if (!waiting.desk.paused()) return;
    await Promise.all(this.#passing);
    try {
      await whilePaused(id, { ...waiting, meter, signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    this.#forget();
  }

  /** Nothing is frozen before this answer has reached the program. */
  passing(pass: Promise<unknown>): void {
    const known: Promise<unknown> = pass.catch(() => {}).finally(() => this.#passing.delete(known));
    this.#passing.add(known);
  }

  async held(call: HeldCall): Promise<Held> {
    let tried = call.first;
    try {
      for (;;) {
        const step = this.#stepOf(tried.failure, call.model);
        if (step.kind === "pass") return { failed: tried };
        if (step.kind === "lost") return { failed: tried, lost: step };
        this.#show(call.id, tried.failure, step);
        await Promise.all(this.#passing);
        const frozen = await this.#options.meter.waiting(step.why, () => this.#frozen(call, tried, step));
        // thawed, since the program must read the answers that this call waits for
        const result = frozen === "busy" || frozen === "paused" ? await this.#turn(call, tried) : frozen;
        if (result === "over") return result;
        if ("answer" in result || "gone" in result) return result;
        tried = result;
      }
    } finally {
      this.#options.waiting.board.clear(call.id);
    }
  }

  /** Tries again while the sandbox is frozen for one reason. Returns the last failure if another reason comes. */
  async #frozen(
    call: HeldCall,
    first: FailedTry,
    begin: WaitStep,
  ): Promise<{ answer: ProviderAnswer } | FailedTry | "over" | "busy" | "paused" | { gone: ModelFailure }> {
    let tried = first;
    let step: Step = begin;
    for (;;) {
      if (step.kind !== "wait" || step.why !== begin.why) return tried;
      this.#show(call.id, tried.failure, step);
      call.failed(tried.failure, step.waitMs);
      const woken = await this.#pause(step, call.gone);
      if (call.gone.aborted || this.#options.signal.aborted) return { gone: tried.failure };
      if (this.#options.waiting.desk.paused()) return "paused";
      const next = await call.again();
      if (next === "over" || next === "busy") return next;
      if ("answer" in next) {
        this.#wake(); // an answer must reach its program, so nothing stays frozen
        return next;
      }
      tried = next;
      if (woken) return tried;
      step = this.#stepOf(tried.failure, call.model);
    }
  }

  /** Tries once more, after other calls of the attempt and after a pause. */
  async #turn(
    { id, again, gone }: HeldCall,
    { failure }: FailedTry,
  ): Promise<{ answer: ProviderAnswer } | FailedTry | "over" | { gone: ModelFailure }> {
    const any = AbortSignal.any([this.#options.signal, gone]);
    for (;;) {
      await sleep(busyMs, undefined, { signal: any }).catch(() => {});
      if (!any.aborted) await this.unpaused(id);
      if (any.aborted) return { gone: failure };
      const next = await again();
      if (next === "busy") continue;
      if (next !== "over" && "answer" in next) this.#wake();
      return next;
    }
  }

  #sideOf({ cause, whose }: ModelFailure, model: string): Side | undefined {
    if (cause === "unreachable" || cause === "overloaded") return "provider";
    if (whose !== "operator" || modelCauses[cause].retry !== "when-mended") return undefined;
    const { answeredBefore, meter } = this.#options;
    const usedMs = this.#startMs - meter.leftMs();
    if (!answeredBefore && this.#models.size === 0 && usedMs < nothingLostMs) return undefined;
    return ofModel.includes(cause) && !this.#models.has(model) ? undefined : "operator";
  }

  #stepOf(failure: ModelFailure, model: string): Step {
    const { waiting } = this.#options;
    const side = this.#sideOf(failure, model);
    if (side === undefined && failure.whose !== "provider") return { kind: "pass" };
    const at = Date.now();
    const trouble = this.#trouble[side ?? "provider"];
    // a person who pauses during a try finds the attempt paused, not given up
    const since = waiting.desk.paused() ? at : (trouble.since ?? at);
    trouble.since = since;
    const leftMs = waiting.patience[`${side ?? "provider"}Ms`] - (at - since);
    if (leftMs <= 0) return { kind: "lost", tries: trouble.tries + 1, waitedMs: at - since };
    const { retryAfterMs, cause } = failure;
    if (side === undefined) {
      const why = cause === "rate-limit" ? "rate-limit" : "provider";
      const waitMs = retryAfterMs ?? 0;
      waiting.board.show(passedOn, failureWait({ why, failure, since, now: at, waitMs, leftMs }));
      return { kind: "pass" };
    }
    trouble.tries++;
    const pauseMs = (side === "operator" ? operatorPause : retryPause)(
      trouble.tries,
      retryAfterMs,
      Math.random,
    );
    return { kind: "wait", why: side, waitMs: Math.min(leftMs, pauseMs), leftMs, since };
  }

  #show(id: string, failure: ModelFailure, { why, waitMs, leftMs, since }: WaitStep): void {
    const wait = failureWait({ why, failure, since, now: Date.now(), waitMs, leftMs });
    this.#options.waiting.board.show(id, wait);
  }

  /** Whether another call was answered meanwhile: then this one need not wait either. */
  async #pause({ why, waitMs }: WaitStep, gone: AbortSignal): Promise<boolean> {
    const { signal, waiting } = this.#options;
    const woken = new AbortController();
    const any = AbortSignal.any([signal, gone, woken.signal]);
    this.#pausing.add(woken);
    try {
      await (why === "operator"
        ? waiting.desk.pause(waitMs, any)
        : sleep(waitMs, undefined, { signal: any }));
    } catch (error) {
      if (!any.aborted) throw error;
    } finally {
      this.#pausing.delete(woken);
    }
    return woken.signal.aborted;
  }

  #wake(): void {
    for (const pause of this.#pausing) pause.abort();
  }
}
