// A program's call that its provider cannot take now, or will not until a person mends something: the request is held
// open, with everything in the sandbox frozen, and sent again until it is answered, patience ends or the program goes
// away. Programs behind the gateway retry for minutes at most; a person takes hours.
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelCause } from "@mlrb/formats/attempt/model-cause";
import type { Meter } from "../attempt/meter.ts";
import { causeRow } from "../model/failure-causes.ts";
import type { ModelFailure } from "../model/model-client.ts";
import { retryPause } from "../model/retry-pause.ts";
import { operatorPause } from "../waiting/patience.ts";
import type { AttemptWaiting } from "../waiting/waiting.ts";

export type CallWaitsOptions = {
  meter: Pick<Meter, "waiting" | "leftMs">;
  waiting: AttemptWaiting;
  /** Ends everything with the gateway. */
  signal: AbortSignal;
  random?: () => number;
  /** Ms since the epoch. */
  now?: () => number;
  /** For a provider; a person is waited for at the desk. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};

type Step =
  | { kind: "wait"; why: Side; waitMs: number; leftMs: number; since: number }
  /** The program is told, and does as it likes. */
  | { kind: "pass" }
  | { kind: "lost"; tries: number; waitedMs: number };
type Side = "provider" | "operator";

export type HeldCall<Answer, Failed extends { failure: ModelFailure }> = {
  id: string;
  model: string;
  first: Failed;
  /** `over`: the attempt may spend no more, so nothing was sent. */
  again(): Promise<{ answer: Answer } | Failed | "over">;
  /** Written down: what failed, and how long it is waited before the next try. */
  failed(failure: ModelFailure, waitMs: number): void;
  gone: AbortSignal;
};

export type Held<Answer, Failed> =
  | { answer: Answer }
  | { failed: Failed; lost?: { tries: number; waitedMs: number } }
  | "over"
  /** The program went away, or the attempt is over. */
  | { gone: ModelFailure };

/** Trouble of one model: another may do, and the program may not need this one. */
const ofModel: ModelCause[] = ["unknown-model", "wrong-address", "no-tool-calls"];
/** Until the first answer, and for so long, there is nothing to lose: a wrong key is told at once. */
const nothingLostMs = 60_000;

/** Told to the program, which tries again by itself; shown until anything is answered. */
const passedOn = "passed on";
const time = (ms: number) => new Date(ms).toISOString();

export function callWaits(options: CallWaitsOptions) {
  const { meter, waiting, signal, random = Math.random, now = Date.now } = options;
  const { board, desk, patience } = waiting;
  const pauseOf =
    options.sleep ?? ((ms: number, over: AbortSignal) => sleep(ms, undefined, { signal: over }));
  const startMs = meter.leftMs();
  const models = new Set<string>();
  const trouble: Record<Side, { since: number | undefined; tries: number }> = {
    provider: { since: undefined, tries: 0 },
    operator: { since: undefined, tries: 0 },
  };
  const pausing = new Set<AbortController>();
  const answering = new Set<Promise<unknown>>();

  const sideOf = ({ cause, whose }: ModelFailure, model: string): Side | undefined => {
    if (cause === "unreachable" || cause === "overloaded") return "provider";
    if (whose !== "operator" || causeRow(cause).retry !== "when-mended") return undefined;
    if (models.size === 0 && startMs - meter.leftMs() < nothingLostMs) return undefined;
    return ofModel.includes(cause) && !models.has(model) ? undefined : "operator";
  };

  const stepOf = (failure: ModelFailure, model: string): Step => {
    const side = sideOf(failure, model);
    if (side === undefined && failure.whose !== "provider") return { kind: "pass" };
    const at = now();
    const of = trouble[side ?? "provider"];
    of.since ??= at;
    const leftMs = patience[`${side ?? "provider"}Ms`] - (at - of.since);
    if (leftMs <= 0) return { kind: "lost", tries: of.tries + 1, waitedMs: at - of.since };
    if (side === undefined) {
      const times = {
        since: time(of.since),
        nextTry: time(at + (failure.retryAfterMs ?? 0)),
        giveUpAt: time(at + leftMs),
      };
      const { cause, whose, detail } = failure;
      board.show(passedOn, {
        why: cause === "rate-limit" ? "rate-limit" : "provider",
        cause,
        whose,
        detail,
        ...times,
      });
      return { kind: "pass" };
    }
    of.tries++;
    const pauseMs = (side === "operator" ? operatorPause : retryPause)(
      of.tries,
      failure.retryAfterMs,
      random,
    );
    return { kind: "wait", why: side, waitMs: Math.min(leftMs, pauseMs), leftMs, since: of.since };
  };

  const show = (id: string, { cause, whose, detail }: ModelFailure, step: Step & { kind: "wait" }) => {
    const at = now();
    board.show(id, {
      ...{ why: step.why, cause, whose, detail, since: time(step.since) },
      ...{ nextTry: time(at + step.waitMs), giveUpAt: time(at + step.leftMs) },
    });
  };

  /** Whether another call was answered meanwhile: then this one need not be waited for either. */
  const pause = async ({ why, waitMs }: Step & { kind: "wait" }, gone: AbortSignal): Promise<boolean> => {
    const woken = new AbortController();
    const any = AbortSignal.any([signal, gone, woken.signal]);
    pausing.add(woken);
    try {
      await (why === "operator" ? desk.pause(waitMs, any) : pauseOf(waitMs, any));
    } catch (error) {
      if (!any.aborted) throw error;
    } finally {
      pausing.delete(woken);
    }
    return woken.signal.aborted;
  };

  return {
    /** A call was answered whole. */
    answered(model: string): void {
      models.add(model);
      board.clear(passedOn);
      for (const of of Object.values(trouble)) {
        of.since = undefined;
        of.tries = 0;
      }
      for (const one of pausing) one.abort();
    },
    /** What is being passed on to the program: nothing is frozen before it is through. */
    passing(pass: Promise<unknown>): void {
      const known: Promise<unknown> = pass.catch(() => {}).finally(() => answering.delete(known));
      answering.add(known);
    },
    async held<Answer, Failed extends { failure: ModelFailure }>(
      call: HeldCall<Answer, Failed>,
    ): Promise<Held<Answer, Failed>> {
      let { first: tried } = call;
      try {
        for (;;) {
          let step = stepOf(tried.failure, call.model);
          if (step.kind === "pass") return { failed: tried };
          if (step.kind === "lost") return { failed: tried, lost: step };
          const { why } = step;
          show(call.id, tried.failure, step);
          await Promise.all(answering);
          const result = await meter.waiting(why, async () => {
            for (;;) {
              if (step.kind !== "wait" || step.why !== why) return tried;
              show(call.id, tried.failure, step);
              call.failed(tried.failure, step.waitMs);
              const woken = await pause(step, call.gone);
              if (call.gone.aborted || signal.aborted) return "gone";
              const next = await call.again();
              if (next === "over") return next;
              if ("answer" in next) {
                for (const one of pausing) one.abort(); // nothing stays frozen beside an answer
                return next;
              }
              tried = next;
              if (woken) return tried;
              step = stepOf(tried.failure, call.model);
            }
          });
          if (result === "over") return result;
          if (result === "gone") return { gone: tried.failure };
          if ("answer" in result) return result;
        }
      } finally {
        board.clear(call.id);
      }
    },
  };
}

export type CallWaits = ReturnType<typeof callWaits>;
