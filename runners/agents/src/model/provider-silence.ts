// Decides whether an attempt reached its deadline because its provider was silent. A model that thinks for long and a
// silent provider look the same until one answers. So a call that is open at the deadline is awaited with the sandbox
// frozen: if it is answered, the time was the model's; if not, it was not the agent's.
import { setTimeout as sleep } from "node:timers/promises";
import { failureOf } from "./cause-of.ts";
import { isAgents } from "./failure-causes.ts";
import type { ModelFailure } from "./model-client.ts";
import { ProviderTrouble } from "./provider-trouble.ts";

type Model = { provider: string; id: string };

export type ProviderSilence = {
  /** A try begins. The returned functions report how it goes. */
  began(model: Model): {
    /** Its first bytes came. */
    heard(): void;
    ended(how: "answered" | ModelFailure): void;
  };
  /**
   * To be called at the deadline. Waits for calls without a first byte, `holdMs` at most. Undefined if the time until the
   * deadline was the agent's, except for a hundredth of the budget.
   */
  untilDeadline(holdMs: number): Promise<ProviderTrouble | undefined>;
};

/** A smaller share of the budget is left to the agent's account. */
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
  /** Failed tries since the last answer that were not the agent's doing. */
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
      // the first call that is heard decides
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

/** As long as a silent provider is awaited elsewhere; for a short attempt about its own length. */
export function holdAtDeadlineMs(budgetMs: number): number {
  return Math.min(240_000, Math.max(30_000, budgetMs));
}
