// The ledger of an attempt while it runs. What is spent is on the disk before anything else happens, a line for
// each change, so that a supervisor that is killed leaves behind what the attempt has cost until then.
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import type { WaitReason } from "@mlrb/core/trajectory-event";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { BudgetLimits, Meter, OverBudget, Spending } from "./meter.ts";

export type MeterOptions = {
  limits: BudgetLimits;
  /** Wall clock, ms since the epoch, when the budget began. */
  startedWall: number;
  /** Monotonic, ms since then. */
  sinceStart: () => number;
  /** Where spending is written; nowhere if absent. */
  file?: string;
  /** Told after each wait. */
  waited?: (wait: { why: WaitReason; durationMs: number; deadline: number }) => void;
};

export type AttemptMeter = Meter & {
  /** Ms of work so far: what has passed without the waits. */
  workingMs(): number;
  close(): void;
};

/** A wait that is shorter moves nothing: it would only fill the record. */
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
    waitedMs: {},
  };
  const file = options.file === undefined ? undefined : openSync(options.file, "a");
  const keep = () => {
    if (file === undefined) return;
    writeSync(file, `${canonicalJson({ formatVersion: 1, workingMs: Math.round(workingMs()), ...spent })}\n`);
    fsyncSync(file);
  };
  /** Of the calls with a known price: what a limit is held by. */
  let knownDollars = 0;
  let waitedMs = 0;
  /** When those that go on now began, oldest first: waits that overlap are one. */
  let waiters = 0;
  let waitingSince = 0;
  const waitingMs = () => waitedMs + (waiters > 0 ? sinceStart() - waitingSince : 0);
  const workingMs = () => sinceStart() - waitingMs();
  const deadline = () => startedWall + limits.timeMs + waitingMs();

  const tell = (why: WaitReason, durationMs: number) => {
    if (durationMs >= toldWaitMs)
      options.waited?.({ why, durationMs: Math.round(durationMs), deadline: deadline() });
  };

  const over = (): OverBudget | undefined => {
    if (workingMs() >= limits.timeMs) return { limit: "time", detail: `${limits.timeMs} ms of work` };
    const tokens = spent.inputTokens + spent.outputTokens;
    if (limits.tokens !== undefined && tokens >= limits.tokens)
      return { limit: "tokens", detail: `${tokens} of ${limits.tokens} tokens` };
    if (limits.dollars !== undefined && knownDollars >= limits.dollars)
      return { limit: "dollars", detail: `${knownDollars} of ${limits.dollars} dollars` };
    return undefined;
  };

  keep();
  return {
    workingMs,
    leftMs: () => limits.timeMs - workingMs(),
    deadline,
    usedShare() {
      const shares = [workingMs() / limits.timeMs];
      if (limits.tokens !== undefined) shares.push((spent.inputTokens + spent.outputTokens) / limits.tokens);
      if (limits.dollars !== undefined) shares.push(knownDollars / limits.dollars);
      return Math.min(1, Math.max(...shares));
    },
    async waiting(why, wait) {
      const begin = sinceStart();
      if (waiters++ === 0) waitingSince = begin;
      try {
        return await wait();
      } finally {
        const end = sinceStart();
        if (--waiters === 0) waitedMs += end - waitingSince;
        spent.waitedMs[why] = Math.round((spent.waitedMs[why] ?? 0) + end - begin);
        keep();
        tell(why, end - begin);
      }
    },
    waited(why, durationMs) {
      waitedMs += durationMs;
      spent.waitedMs[why] = Math.round((spent.waitedMs[why] ?? 0) + durationMs);
      keep();
      tell(why, durationMs);
    },
    charge({ usage, dollars, answered }) {
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
      knownDollars += dollars ?? 0;
      // a try that the provider did not count is not known to have cost anything; an answer at no known price is unknown
      if (dollars !== null) spent.dollars = spent.dollars === null ? null : spent.dollars + dollars;
      else if (answered || usage !== null) spent.dollars = null;
      keep();
    },
    over,
    spending: () => ({ ...spent, waitedMs: { ...spent.waitedMs } }),
    close() {
      if (file !== undefined) closeSync(file);
    },
  };
}

/** `workingMs`: as long as it had worked then. */
export type LastSpending = Spending & { formatVersion: 1; workingMs: number };

/** What an attempt had spent by what its meter wrote last; undefined where it wrote nothing that can be read. */
export function lastSpending(path: string): LastSpending | undefined {
  let lines: string[];
  try {
    lines = readFileSync(path, "utf8").split("\n");
  } catch {
    return undefined;
  }
  // the last may be half a line: the one before it was whole
  for (const line of lines.reverse()) {
    try {
      const value = JSON.parse(line) as Partial<LastSpending> | null;
      if (value?.formatVersion === 1) return value as LastSpending;
    } catch {}
  }
  return undefined;
}
