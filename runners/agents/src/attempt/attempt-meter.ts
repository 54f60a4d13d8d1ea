// The ledger of an attempt while it runs. What is spent is on the disk before anything else happens, a line for
// each change, so that a supervisor that is killed leaves behind what the attempt has cost until then.
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { FrozenTime } from "./frozen-time.ts";
import type { BudgetLimits, Meter, OverBudget, Spending } from "./meter.ts";
import type { SpendingCap } from "./spending-cap.ts";

export type MeterOptions = {
  limits: BudgetLimits;
  /** Wall clock, ms since the epoch, when the budget began. */
  startedWall: number;
  /** Monotonic, ms since then. */
  sinceStart: () => number;
  /** Of the whole run. */
  cap?: SpendingCap;
  /** Where spending is written; nowhere if absent. */
  file?: string;
  /** Frees reserved room on a full disk; false where there is none. */
  makeRoom?: () => boolean;
  /** Freezes the sandbox for each wait. Without it nothing is frozen, and every wait counts as work. */
  frozen?: FrozenTime;
  /** Called after each wait that was not short. */
  waited?: (wait: Wait) => void;
  /** Called after each wait with a deadline that differs from the last one. Must not reject. */
  moved?: (deadline: number) => Promise<void>;
};

type Wait = Omit<Extract<TrajectoryEvent, { event: "wait" }>, "event" | "deadline"> & { deadline: number };

export type AttemptMeter = Meter & {
  /** Ms of work so far: what has passed without the waits. */
  workingMs(): number;
  close(): void;
};

/** Shorter waits are counted and move the deadline, but would only fill the record. */
const toldWaitMs = 1000;

export function attemptMeter(options: MeterOptions): AttemptMeter {
  const { limits, startedWall, sinceStart } = options;
  const spent: Spending = {
    calls: 0,
    failedTries: 0,
    uncounted: 0,
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    dollars: 0,
    estimated: { calls: 0, answers: 0, inputTokens: 0, outputTokens: 0, dollars: 0 },
    waitedMs: {},
  };
  /** Of the calls that go on now, what they can take at most. */
  const held = { calls: 0, tokens: 0, dollars: 0 };
  const inFlight = new Set<{ dollars: number }>();
  const tellCap = () => {
    const each = [...inFlight].map(({ dollars }) => dollars);
    options.cap?.hold(Math.max(0, held.dollars - Math.max(0, ...each)));
  };
  const file = options.file === undefined ? undefined : openSync(options.file, "a");
  const keep = () => {
    if (file === undefined) return;
    const flying = held.calls > 0 ? { inFlight: { calls: held.calls, dollars: held.dollars } } : {};
    const line = { formatVersion: 1, workingMs: Math.round(workingMs()), ...spent, ...flying };
    const bytes = Buffer.from(`${canonicalJson(line)}\n`);
    try {
      appendWhole(file, bytes);
    } catch (error) {
      if (!isFullDisk(error) || !options.makeRoom?.()) throw error;
      appendWhole(file, Buffer.concat([Buffer.from("\n"), bytes])); // after what part there is of it
    }
    fsyncSync(file);
  };
  /** What limits are held by: what is known, and upper estimates of the rest. */
  const counted = { tokens: 0, dollars: 0 };
  const frozenMs = () => options.frozen?.frozenMs() ?? 0;
  const workingMs = () => sinceStart() - frozenMs();
  const deadline = () => startedWall + limits.timeMs + frozenMs();
  let announced = deadline();

  const took = ({ durationMs, ...wait }: Omit<Wait, "deadline">) => {
    spent.waitedMs[wait.why] = Math.round((spent.waitedMs[wait.why] ?? 0) + durationMs);
    keep();
    if (durationMs < toldWaitMs) return;
    options.waited?.({ ...wait, durationMs: Math.round(durationMs), deadline: deadline() });
  };

  const over = (): OverBudget | undefined => {
    if (workingMs() >= limits.timeMs) return { limit: "time", detail: `${limits.timeMs} ms of work` };
    const { calls } = spent.estimated;
    const estimated = calls > 0 ? `, of which ${calls} calls by upper estimate` : "";
    if (limits.tokens !== undefined && counted.tokens >= limits.tokens)
      return { limit: "tokens", detail: `${counted.tokens} of ${limits.tokens} tokens${estimated}` };
    if (limits.dollars !== undefined && counted.dollars >= limits.dollars)
      return { limit: "dollars", detail: `${counted.dollars} of ${limits.dollars} dollars${estimated}` };
    return undefined;
  };

  keep();
  return {
    workingMs,
    leftMs: () => limits.timeMs - workingMs(),
    deadline,
    usedShare() {
      const shares = [workingMs() / limits.timeMs];
      if (limits.tokens !== undefined) shares.push(counted.tokens / limits.tokens);
      if (limits.dollars !== undefined) shares.push(counted.dollars / limits.dollars);
      return Math.min(1, Math.max(...shares));
    },
    async waiting(why, wait) {
      const [begin, before] = [sinceStart(), frozenMs()];
      try {
        return await (options.frozen ? options.frozen.during(wait) : wait());
      } finally {
        const stoodMs = Math.max(0, Math.round(frozenMs() - before));
        const wait = { why, durationMs: sinceStart() - begin, frozenMs: stoodMs };
        took(stoodMs > 0 ? wait : { ...wait, charged: "cannot-freeze" });
        // back too: a wait that ended before others moved it by a freeze in which, as the thaw then shows, something ran
        const now = deadline();
        if (now !== announced) {
          announced = now;
          await options.moved?.(now);
        }
      }
    },
    waited(why, durationMs) {
      took({ why, durationMs, frozenMs: 0, charged: "reported-afterwards" });
    },
    hold({ tokens, dollars }) {
      const left = {
        tokens: (limits.tokens ?? Number.POSITIVE_INFINITY) - counted.tokens - held.tokens,
        dollars: (limits.dollars ?? Number.POSITIVE_INFINITY) - counted.dollars - held.dollars,
      };
      if (held.calls > 0 && Math.min(...Object.values(left)) <= 0) return undefined;
      const most = { calls: 1, tokens, dollars: dollars ?? 0 };
      const add = (sign: 1 | -1) => {
        for (const part of ["calls", "tokens", "dollars"] as const) held[part] += sign * most[part];
        held.dollars = held.calls === 0 ? 0 : Math.max(0, held.dollars); // sums of fractions leave dust
      };
      add(1);
      inFlight.add(most);
      tellCap(); // first, and then looked at: others do the same at the same time
      const { cap } = options;
      if (most.dollars > 0 && cap && cap.leftDollars() > 0 && cap.freeDollars() <= 0) {
        add(-1);
        inFlight.delete(most);
        tellCap();
        return undefined;
      }
      keep(); // before it is sent: who is killed in its middle may be billed for it
      return () => {
        if (!inFlight.delete(most)) return;
        add(-1);
        // once it is charged, which follows at once
        queueMicrotask(() => {
          try {
            tellCap();
          } catch {} // a full disk: too much stays held
        });
      };
    },
    charge({ usage, dollars, answered, estimated }) {
      if (answered) spent.calls++;
      else spent.failedTries++;
      if (usage === null) {
        spent.uncounted++;
      } else {
        spent.inputTokens += usage.inputTokens;
        spent.outputTokens += usage.outputTokens;
        spent.cachedInputTokens += usage.cachedInputTokens ?? 0;
        spent.reasoningTokens += usage.reasoningTokens ?? 0;
      }
      if (estimated !== undefined) {
        const sum = spent.estimated;
        sum.calls++;
        if (answered) sum.answers++;
        sum.inputTokens += estimated.inputTokens;
        sum.outputTokens += estimated.outputTokens;
        sum.dollars =
          sum.dollars === null || estimated.dollars === null ? null : sum.dollars + estimated.dollars;
      }
      const tokensOf = (one: { inputTokens: number; outputTokens: number } | null | undefined) =>
        one ? one.inputTokens + one.outputTokens : 0;
      counted.tokens += tokensOf(usage) + tokensOf(estimated);
      const most = (dollars ?? 0) + (estimated?.dollars ?? 0);
      counted.dollars += most;
      // a try that the provider did not count is not known to have cost anything; an answer at no known price is unknown
      if (dollars !== null) spent.dollars = spent.dollars === null ? null : spent.dollars + dollars;
      else if (answered || usage !== null) spent.dollars = null;
      keep();
      // last: where it cannot be written, the attempt's own bill is whole
      options.cap?.add(most);
    },
    over,
    overCap(most) {
      const max = most === 0 ? undefined : options.cap?.maxDollars();
      if (max === undefined) return undefined;
      if (most === null) return "no price is known of the model, and the run has a --max-cost: say --price";
      if (options.cap!.leftDollars() > 0) return undefined;
      return `the run's attempts have spent the ${max} dollars of its --max-cost`;
    },
    spending: () => structuredClone(spent),
    close() {
      if (file !== undefined) closeSync(file);
    },
  };
}

function appendWhole(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
