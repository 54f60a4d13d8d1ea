// Decides whether an attempt reached its deadline because its provider was silent. A model that thinks for long
// and a silent provider look the same until one answers. So a call that is open at the deadline is awaited with
// the sandbox frozen: if a part of its answer comes, the time was the model's; if not, the time since the last
// part was not the agent's.
import { setTimeout as sleep } from "node:timers/promises";
import { failureOf } from "./cause-of.ts";
import { isAgents } from "./failure-causes.ts";
import type { ModelFailure } from "./model-client.ts";
import { ProviderTrouble } from "./provider-trouble.ts";

type Model = { provider: string; id: string };

export type ProviderSilence = ReturnType<typeof providerSilence>;

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
}) {
  /** `heardAt`: when the last part of its answer came. `next`: whether another part comes, or the end of an answer. */
  type Open = { model: Model; since: number; heardAt?: number; next: PromiseWithResolvers<boolean> };
  const open = new Set<Open>();
  /** Failed tries since the last answer that were not the agent's doing. */
  let trouble: { since: number; model: Model; failure: ModelFailure } | undefined;
  return {
    /** A try begins. The returned functions report how it goes. */
    began(model: Model) {
      const call: Open = { model, since: now(), next: Promise.withResolvers() };
      open.add(call);
      return {
        /** A part of its answer came. */
        heard() {
          call.heardAt = now();
          call.next.resolve(true);
          call.next = Promise.withResolvers();
        },
        ended(how: "answered" | ModelFailure) {
          open.delete(call);
          const answered = how === "answered" || isAgents(how.whose);
          trouble = answered ? undefined : { model, failure: how, since: trouble?.since ?? call.since };
          call.next.resolve(answered);
        },
      };
    },
    /**
     * To be called at the deadline. Waits for the next part of an answer, `holdMs` at most. Undefined if the time
     * until the deadline was the agent's, except for a hundredth of the budget.
     */
    async untilDeadline(holdMs: number) {
      const deadline = now();
      const waiting = [...open];
      if (waiting.length === 0 && !trouble) return undefined;
      const lastHeard = Math.max(...waiting.map(({ heardAt = Number.NEGATIVE_INFINITY }) => heardAt));
      const since = Number.isFinite(lastHeard)
        ? lastHeard
        : Math.min(trouble?.since ?? deadline, ...waiting.map((call) => call.since));
      if (deadline - since < shareLeast * budgetMs) return undefined;
      // the first call that is heard decides
      const nexts = waiting.map(({ next }) => next.promise.then((heard) => heard || Promise.reject()));
      const heard = Promise.any(nexts).catch(() => false);
      if ((await Promise.race([heard, pause(holdMs)])) === true) return undefined;
      const seconds = Math.round((deadline - since) / 1000);
      const failure = trouble?.failure ?? failureOf("idle", { detail: "no part of an answer came" });
      const detail = `${failure.detail}; no answer in the last ${seconds} s before the deadline`;
      const model = waiting[0]?.model ?? trouble!.model;
      return new ProviderTrouble(model, { ...failure, detail }, { tries: 1, waitedMs: 0 });
    },
  };
}

/** About as long as a silent provider is awaited elsewhere; for a short attempt about its own length. */
export function holdAtDeadlineMs(budgetMs: number): number {
  return Math.min(240_000, Math.max(30_000, budgetMs));
}
