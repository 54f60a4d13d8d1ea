// Whether an attempt came to its deadline because its provider said nothing. A model that thinks for long and a
// provider that is silent look the same until one answers, so the call that goes on at the deadline is waited for,
// with the sandbox frozen: an answer shows that the time was the model's, silence that it was not the agent's.
import { setTimeout as sleep } from "node:timers/promises";
import { failureOf } from "./cause-of.ts";
import { isAgents } from "./failure-causes.ts";
import type { ModelFailure } from "./model-client.ts";
import { ProviderTrouble } from "./provider-trouble.ts";

type Model = { provider: string; id: string };

export type ProviderSilence = {
  /** A try begins; what it gives is told how it goes. */
  began(model: Model): {
    /** Its first bytes came. */ heard(): void;
    ended(how: "answered" | ModelFailure): void;
  };
  /**
   * At the deadline. Waits for the calls that have not begun to answer, `holdMs` at most. Undefined where the time
   * until the deadline was the agent's, or all but a hundredth of the budget.
   */
  untilDeadline(holdMs: number): Promise<ProviderTrouble | undefined>;
};

/** Less of the budget than this is left to the agent's account. */
const shareLeast = 0.01;

export function providerSilence({
  budgetMs,
  now = () => performance.now(),
  pause = (ms: number) => sleep(ms, undefined, { ref: false }),
}: {
  budgetMs: number;
  /** Monotonic, ms. */
  now?: () => number;
  pause?: (ms: number) => Promise<unknown>;
}): ProviderSilence {
  type Open = { model: Model; since: number; heard: boolean; settled: PromiseWithResolvers<void> };
  const open = new Set<Open>();
  /** Tries that failed since the last answer, not by the agent. */
  let trouble: { since: number; model: Model; failure: ModelFailure } | undefined;
  return {
    began(model) {
      const call: Open = { model, since: now(), heard: false, settled: Promise.withResolvers() };
      open.add(call);
      return {
        heard() {
          call.heard = true;
          call.settled.resolve();
        },
        ended(how) {
          open.delete(call);
          if (how === "answered" || isAgents(how.whose)) {
            call.heard = true;
            trouble = undefined;
          } else trouble = { model, failure: how, since: trouble?.since ?? call.since };
          call.settled.resolve();
        },
      };
    },
    async untilDeadline(holdMs) {
      const deadline = now();
      const waiting = [...open];
      if (waiting.length === 0 && !trouble) return undefined;
      const silent = Promise.all(waiting.map(({ settled }) => settled.promise));
      // one that is heard settles it
      const heard = Promise.any(
        waiting.map((call) => call.settled.promise.then(() => call.heard || Promise.reject())),
      );
      await Promise.race([silent, heard.catch(() => silent), pause(holdMs)]);
      if (waiting.some((call) => call.heard)) return undefined;
      const since = Math.min(trouble?.since ?? deadline, ...waiting.map((call) => call.since));
      if (deadline - since < shareLeast * budgetMs) return undefined;
      const seconds = Math.round((deadline - since) / 1000);
      const failure = trouble?.failure ?? failureOf("idle", { detail: "no byte of an answer came" });
      const detail = `${failure.detail}; no answer in the last ${seconds} s before the deadline`;
      const model = waiting[0]?.model ?? trouble!.model;
      return new ProviderTrouble(model, { ...failure, detail }, { tries: 1, waitedMs: 0 });
    },
  };
}

/** As long as a provider's silence is waited for anywhere; for a short attempt about as long as itself. */
export function holdAtDeadlineMs(budgetMs: number): number {
  return Math.min(240_000, Math.max(30_000, budgetMs));
}
