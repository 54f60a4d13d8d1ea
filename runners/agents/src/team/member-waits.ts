// Who of a team waits. A member that waits for a provider or a person has its own processes frozen, and gets no time
// back: others work on. Only where no member can work, everything is frozen and the deadline moves.
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { TrajectoryEvent, WaitReason } from "@mlrb/formats/attempt/trajectory";
import { recordedWaitMs } from "../attempt/attempt-meter.ts";
import type { Meter } from "../attempt/meter.ts";

export type MemberWaitsOptions = {
  meter: Pick<Meter, "waiting">;
  sandbox: Pick<Sandbox, "freezePart">;
  clock: { sinceStart(): number; frozenMs(): number };
  write(event: TrajectoryEvent): void;
};

type Member = {
  /** Of its calls that wait now. */
  waits: number;
  why: WaitReason;
  since: { start: number; frozen: number };
  /** Whether it reads the board until a message comes: it could do nothing before another member works. */
  idle: boolean;
  resume: (() => void) | undefined;
};

/** The variable by which the processes of a member are found. */
export const memberVariable = "MLRB_MEMBER";

export class MemberWaits {
  readonly #options: MemberWaitsOptions;
  /** Those that work or wait: neither before their start nor after their end. */
  readonly #members = new Map<string, Member>();
  #whole: { end(): void; over: Promise<void> } | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: MemberWaitsOptions) {
    this.#options = options;
  }

  started(name: string): void {
    const since = { start: 0, frozen: 0 };
    this.#members.set(name, { waits: 0, why: "provider", since, idle: false, resume: undefined });
  }

  async ended(name: string): Promise<void> {
    this.#members.get(name)?.resume?.();
    this.#members.delete(name);
    await this.#settle(); // the others may all wait
  }

  async idle<T>(name: string, wait: () => Promise<T>): Promise<T> {
    const member = this.#members.get(name)!;
    member.idle = true;
    const waited = wait(); // before anything else runs: it must miss no message
    waited.catch(() => {}); // awaited below
    try {
      await this.#settle();
      return await waited;
    } finally {
      member.idle = false;
      await this.#settle();
    }
  }

  /** Like a meter's: runs `wait` with the processes of the member frozen. */
  async waiting<T>(name: string, why: WaitReason, wait: () => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    const member = this.#members.get(name);
    if (!member) return wait(); // a call that outlives its member
    if (member.waits++ === 0) member.since = { start: clock.sinceStart(), frozen: clock.frozenMs() };
    member.why = why;
    const freezing = this.#settle();
    freezing.catch(() => {}); // awaited below
    try {
      return await wait();
    } finally {
      const frozen = member.resume !== undefined;
      member.waits--;
      await freezing;
      await this.#settle();
      const { since } = member;
      const durationMs = clock.sinceStart() - since.start - (clock.frozenMs() - since.frozen);
      if (member.waits === 0) this.#record(name, why, { durationMs, frozen });
    }
  }

  /** A past wait, for which nothing was frozen. */
  waited(name: string, why: WaitReason, durationMs: number): void {
    this.#record(name, why, { durationMs, frozen: false });
  }

  #record(member: string, why: WaitReason, took: { durationMs: number; frozen: boolean }): void {
    const durationMs = Math.round(took.durationMs);
    if (durationMs >= recordedWaitMs)
      this.#options.write({ event: "member-wait", member, why, ...took, durationMs });
  }

  /** Brings everything into the state that is wanted when its turn comes, one change at a time. */
  #settle(): Promise<void> {
    const next = this.#turn.then(async () => {
      const { meter, sandbox } = this.#options;
      const all = [...this.#members];
      const waiting = all.filter(([, { waits }]) => waits > 0);
      const allWait = waiting.length > 0 && all.every(([, { waits, idle }]) => waits > 0 || idle);
      // everything thaws before the processes of a member run: otherwise they would run during its freeze
      if (!allWait && this.#whole) {
        this.#whole.end();
        await this.#whole.over;
        this.#whole = undefined;
      }
      for (const [name, member] of all) {
        if (member.waits > 0 && !member.resume)
          member.resume = await sandbox.freezePart?.({ name: memberVariable, value: name });
        else if (member.waits === 0 && member.resume) {
          member.resume();
          member.resume = undefined;
        }
      }
      if (allWait && !this.#whole) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const over = meter.waiting(waiting.at(-1)![1].why, () => promise);
        over.catch(() => {}); // awaited where it ends
        this.#whole = { end: resolve, over };
      }
    });
    this.#turn = next.catch(() => {}); // the caller gets the error
    return next;
  }
}
