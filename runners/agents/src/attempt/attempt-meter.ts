// Counts what an attempt uses of its budget. Every change is on disk, as one line, before anything else happens: a
// supervisor that is killed leaves behind what the attempt has cost so far.
import type { LastSpending } from "@mlrb/formats/attempt/last-spending";
import type { TrajectoryEvent, WaitReason } from "@mlrb/formats/attempt/trajectory";
import type { CallCharge } from "../spending/call-charge.ts";
import { countReached, countServed } from "../spending/count-names.ts";
import { type CallMost, nothingSpent, spentBefore, tokensOf } from "../spending/spending-before.ts";
import type { SpendingCap } from "../spending/spending-cap.ts";
import { SpendingFile } from "../spending/spending-file.ts";
import type { AttemptClock } from "./attempt-clock.ts";
import type { BudgetLimits, HeldCall, Meter, OverBudget, Spending } from "./meter.ts";

export type MeterOptions = {
  limits: BudgetLimits;
  /** What people have added to the limits by now. A limit that there is not stays absent. */
  added?: () => { addedMs: number; addedDollars: number };
  clock: AttemptClock;
  /** Of the whole run. */
  cap?: SpendingCap;
  /** Where spending is written; nowhere if absent. */
  file?: string;
  /** The spending of an attempt that continues after a restart. */
  before?: LastSpending;
  /** Called before anything is written, and so before each call. Does not return once the attempt is another supervisor's. */
  checkClaim?: () => void;
  /** Frees reserved room on a full disk; false if none is left. */
  makeRoom?: () => boolean;
  /** Called after each wait of at least `recordedWaitMs`. */
  waited?: (wait: Wait) => void;
  /** Called after each wait with a deadline that differs from the last one. Must not reject. */
  moved?: (deadline: number) => Promise<void>;
};

type Wait = Omit<Extract<TrajectoryEvent, { event: "wait" }>, "event" | "deadline"> & { deadline: number };

/** Shorter waits are counted and move the deadline, but would only fill the record. */
export const recordedWaitMs = 1000;
const hourMs = 3_600_000;

export class AttemptMeter implements Meter {
  readonly #options: MeterOptions;
  readonly #file: SpendingFile | undefined;
  readonly #spent: Spending;
  /** What limits are checked against: known usage, and upper estimates of the rest. */
  readonly #counted: CallMost;
  /** What each reserved call can take at most. */
  readonly #reserved = new Map<HeldCall, CallMost>();
  /** The reserved calls that are sent and not charged. */
  readonly #inFlight = new Set<HeldCall>();
  #announced: number;
  /** The working time of the last extension that was told. */
  #toldMs: number;
  #keptAt = 0;

  constructor(options: MeterOptions) {
    this.#options = options;
    const { spent, counted, unbilled } = options.before ? spentBefore(options.before) : nothingSpent();
    this.#spent = spent;
    this.#counted = counted;
    this.#announced = this.deadline();
    this.#toldMs = this.limits().timeMs;
    this.#file = options.file === undefined ? undefined : new SpendingFile(options.file, options.makeRoom);
    this.#keep();
    if (unbilled > 0) options.cap?.add(unbilled);
    if (options.before) this.#tellCap(); // what the earlier supervisor held is spent now
  }

  /**
   * Keeps the time on disk if the last line is this old, also of a program that makes no call. Counts the time for
   * which a cluster had suspended the job.
   */
  beat(afterMs: number): void {
    const suspendedMs = this.#options.clock.takeSuspendedMs();
    if (suspendedMs > 0) {
      this.#countWait({ why: "suspended", durationMs: suspendedMs, frozenMs: Math.round(suspendedMs) });
      void this.#announceDeadline();
    }
    // a call moves the deadline where working hours are paid from the same purse; during a wait, its end tells it
    const isPurse = this.#options.limits.machineDollarsPerHour !== undefined;
    if (isPurse && !this.#options.clock.isWaiting()) void this.#announceDeadline();
    if (this.#options.clock.sinceStart() - this.#keptAt >= afterMs) this.#keep();
  }

  leftMs(): number {
    return this.#allowedMs() - this.#options.clock.workingMs();
  }

  deadline(): number {
    return this.#options.clock.startedWall + this.#allowedMs() + this.#options.clock.frozenMs();
  }

  /** With all extensions. */
  limits(): BudgetLimits {
    const { limits, added } = this.#options;
    const { addedMs, addedDollars } = added?.() ?? { addedMs: 0, addedDollars: 0 };
    return {
      ...limits,
      timeMs: limits.timeMs + addedMs,
      ...(limits.dollars !== undefined && { dollars: limits.dollars + addedDollars }),
    };
  }

  /** Tells the agent's programs a deadline that an extension has moved. During a wait, its end tells it. */
  async tellExtension(): Promise<void> {
    const { timeMs } = this.limits();
    if (timeMs === this.#toldMs || this.#options.clock.isWaiting()) return;
    this.#toldMs = timeMs;
    await this.#announceDeadline();
  }

  usedShare(): number {
    const { timeMs, tokens, dollars } = this.limits();
    const shares = [this.#options.clock.workingMs() / timeMs];
    if (tokens !== undefined) shares.push(this.#counted.tokens / tokens);
    if (dollars !== undefined) shares.push(this.#used("dollars") / dollars);
    return Math.min(1, Math.max(...shares));
  }

  async waiting<T>(why: WaitReason, wait: () => Promise<T>): Promise<T> {
    const clock = this.#options.clock;
    const [begin, before] = [clock.sinceStart(), clock.frozenMs()];
    try {
      return await clock.during(wait);
    } finally {
      const frozenMs = Math.max(0, Math.round(clock.frozenMs() - before));
      const took = { why, durationMs: clock.sinceStart() - begin, frozenMs };
      this.#countWait(frozenMs > 0 ? took : { ...took, charged: "cannot-freeze" });
      await this.#announceDeadline();
    }
  }

  waited(why: WaitReason, durationMs: number): void {
    this.#countWait({ why, durationMs, frozenMs: 0, charged: "reported-afterwards" });
  }

  hold({ tokens, dollars }: { tokens: number; dollars: number | null }): HeldCall | undefined {
    const { cap } = this.#options;
    if (this.#isFull([...this.#reserved.values()])) return undefined;
    const call = { tokens, dollars: dollars ?? 0 };
    const held = { again: () => this.#sendAgain(held), release: () => this.#release(held) };
    this.#reserved.set(held, call);
    this.#tellCap(); // before the check below: other attempts do the same at the same time
    if (call.dollars > 0 && cap && cap.leftDollars() > 0 && cap.freeDollars() <= 0) {
      this.#reserved.delete(held);
      this.#tellCap();
      return undefined;
    }
    this.#send(held);
    return held;
  }

  charge({ usage, dollars, answered, estimated, reached, served }: CallCharge, held: HeldCall): void {
    const spent = this.#spent;
    this.#inFlight.delete(held);
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
    if (reached !== undefined) countReached(spent, reached);
    if (served !== undefined) countServed(spent, served);
    if (estimated !== undefined) this.#countEstimate(estimated, answered && usage === null);
    const most = (dollars ?? 0) + (estimated?.dollars ?? 0);
    this.#counted.tokens += tokensOf(usage) + tokensOf(estimated);
    this.#counted.dollars += most;
    // a failed try without usage may have cost nothing; an answer without a known price has an unknown cost
    if (dollars !== null) spent.dollars = spent.dollars === null ? null : spent.dollars + dollars;
    else if (answered || usage !== null) spent.dollars = null;
    this.#keep();
    this.#options.cap?.add(most); // last: if this write fails, the attempt's own bill is complete
  }

  over(): OverBudget | undefined {
    const { timeMs, ...limits } = this.limits();
    // a purse is used up when the time ends in which its machines alone use it up
    const isOver = (limit: "tokens" | "dollars") =>
      this.#used(limit) >= (limits[limit] ?? Number.POSITIVE_INFINITY);
    const isPurse = limits.machineDollarsPerHour !== undefined && isOver("dollars");
    if (!isPurse && this.#options.clock.workingMs() >= timeMs)
      return { limit: "time", detail: `${timeMs} ms of work` };
    const { calls } = this.#spent.estimated;
    const estimated = calls > 0 ? `, of which ${calls} calls by upper estimate` : "";
    for (const limit of ["tokens", "dollars"] as const) {
      if (isOver(limit))
        return { limit, detail: `${this.#used(limit)} of ${limits[limit]} ${limit}${estimated}` };
    }
    return undefined;
  }

  overCap(most: number | null): string | undefined {
    const max = most === 0 ? undefined : this.#options.cap?.maxDollars();
    if (max === undefined) return undefined;
    if (most === null) return "the model's price is unknown, and the run has a --max-cost: add --price";
    if (this.#options.cap!.leftDollars() > 0) return undefined;
    return `the run's attempts have spent the ${max} dollars of its --max-cost`;
  }

  spending(): Spending {
    return structuredClone(this.#spent);
  }

  close(): void {
    this.#file?.close();
  }

  #countWait({ durationMs, ...wait }: Omit<Wait, "deadline">): void {
    const { waitedMs } = this.#spent;
    waitedMs[wait.why] = Math.round((waitedMs[wait.why] ?? 0) + durationMs);
    this.#keep();
    if (durationMs < recordedWaitMs) return;
    this.#options.waited?.({ ...wait, durationMs: Math.round(durationMs), deadline: this.deadline() });
  }

  /**
   * Also earlier again: the thaw may show that something ran during a freeze by which a wait had moved the
   * deadline.
   */
  async #announceDeadline(): Promise<void> {
    const now = this.deadline();
    if (now === this.#announced) return;
    this.#announced = now;
    await this.#options.moved?.(now);
  }

  #countEstimate(estimate: NonNullable<CallCharge["estimated"]>, uncountedAnswer: boolean): void {
    const all = this.#spent.estimated;
    all.calls++;
    if (uncountedAnswer) all.answers++;
    all.inputTokens += estimate.inputTokens;
    all.outputTokens += estimate.outputTokens;
    all.dollars = all.dollars === null || estimate.dollars === null ? null : all.dollars + estimate.dollars;
  }

  /** Of a limit; dollars with the working hours where these have a price. */
  #used(part: "tokens" | "dollars"): number {
    const { machineDollarsPerHour: rate = 0 } = this.#options.limits;
    const hours = part === "dollars" ? this.#options.clock.workingMs() / hourMs : 0;
    return this.#counted[part] + hours * rate;
  }

  /** The working time after which the attempt ends if it makes no more calls. */
  #allowedMs(): number {
    const { timeMs, dollars, machineDollarsPerHour: rate } = this.limits();
    if (dollars === undefined || rate === undefined) return timeMs;
    return Math.min(timeMs, Math.max(0, Math.ceil(((dollars - this.#counted.dollars) / rate) * hourMs)));
  }

  /** Whether `others`, if there are any, and what is counted may use up a limit. */
  #isFull(others: CallMost[]): boolean {
    const limits = this.limits();
    const most = sum(others);
    const full = (["tokens", "dollars"] as const).some(
      (part) => (limits[part] ?? Number.POSITIVE_INFINITY) - this.#used(part) - most[part] <= 0,
    );
    return full && others.length > 0;
  }

  /** Reserved calls that wait are not counted: two of them would wait for each other. */
  #sendAgain(held: HeldCall): boolean {
    const flying = [...this.#inFlight].flatMap((one) => this.#reserved.get(one) ?? []);
    if (this.#isFull(flying)) return false;
    this.#send(held);
    return true;
  }

  /** On disk before the call is sent: a supervisor killed in its middle may be billed for it. */
  #send(held: HeldCall): void {
    this.#inFlight.add(held);
    this.#keep();
  }

  #release(held: HeldCall): void {
    if (!this.#reserved.delete(held)) return;
    const unsent = this.#inFlight.delete(held);
    try {
      this.#tellCap();
      if (unsent) this.#keep();
    } catch {} // a full disk: too much stays reserved, and too much may be billed
  }

  /** The dearest call is not held: each attempt may pass the cap by one call. */
  #tellCap(): void {
    const all = [...this.#reserved.values()];
    const dearest = Math.max(0, ...all.map(({ dollars }) => dollars));
    this.#options.cap?.hold(Math.max(0, sum(all).dollars - dearest));
  }

  #keep(): void {
    if (this.#file === undefined) return;
    this.#options.checkClaim?.();
    const sinceStartMs = this.#options.clock.sinceStart();
    this.#keptAt = sinceStartMs;
    const calls = this.#inFlight.size;
    const most = sum([...this.#inFlight].flatMap((held) => this.#reserved.get(held) ?? []));
    const line = {
      formatVersion: 1,
      workingMs: Math.round(this.#options.clock.workingMs()),
      sinceStartMs: Math.round(sinceStartMs),
      counted: this.#counted,
      ...this.#spent,
      ...(calls > 0 && { inFlight: { calls, ...most } }),
    };
    this.#file.append(line);
  }
}

function sum(calls: Iterable<CallMost>): CallMost {
  const all = { tokens: 0, dollars: 0 };
  for (const { tokens, dollars } of calls) {
    all.tokens += tokens;
    all.dollars += dollars;
  }
  return all;
}
