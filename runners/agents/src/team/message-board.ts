// The messages of a team: each is recorded before anyone can read it, and all have one order, that of the
// trajectory.
import { setTimeout as sleep } from "node:timers/promises";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import type { BoardMessage } from "../scaffold/scaffold.ts";

/** Bytes of one message, and messages of an attempt: what members read is bounded, and so is the trajectory. */
export const boardLimits = { messageBytes: 16 << 10, messagesMax: 10_000, refusalsMax: 1_000 };

export type BoardOptions = {
  members: readonly string[];
  /** In the trajectory of an attempt that continues after a restart. */
  earlier: readonly BoardMessage[];
  write(event: TrajectoryEvent): void;
};

export class MessageBoard {
  readonly #options: BoardOptions;
  readonly #all: BoardMessage[];
  readonly #received: Map<string, BoardMessage[]>;
  readonly #listeners = new Set<(message: BoardMessage) => void>();
  #refusals = 0;

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#all = [...options.earlier];
    this.#received = new Map(
      options.members.map((name) => [name, this.#all.filter((message) => reaches(message, name))]),
    );
  }

  /** A text says why the message was refused. */
  send(message: BoardMessage): string | undefined {
    const why = this.#refusal(message);
    if (why !== undefined) return why;
    const { from, text, ...asked } = message;
    const whole = { ...message, text: text.toWellFormed() };
    this.#options.write({ event: "board", member: from, ...asked, text: whole.text });
    this.#all.push(whole);
    for (const [name, received] of this.#received) if (reaches(whole, name)) received.push(whole);
    for (const listener of [...this.#listeners]) listener(whole);
    return undefined;
  }

  /** Records a message that is none, or that was refused. After many, no more are recorded. */
  refused(member: string, because: string): void {
    if (++this.#refusals > boardLimits.refusalsMax) return;
    const last = this.#refusals === boardLimits.refusalsMax ? "; further refusals are not recorded" : "";
    this.#options.write({ event: "board-refused", member, because: `${because}${last}` });
  }

  /** In the order in which they were sent. */
  receivedBy(name: string): readonly BoardMessage[] {
    return this.#received.get(name)!;
  }

  /** Called with each message once it is recorded. Returns the function that ends it. */
  onSent(listener: (message: BoardMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves with the next message to this member, or after `ms`; rejects when `signal` is aborted. */
  async next(name: string, ms: number, signal: AbortSignal): Promise<void> {
    const sent = new AbortController();
    const end = this.onSent((message) => {
      if (reaches(message, name)) sent.abort();
    });
    await sleep(ms, undefined, { signal: AbortSignal.any([signal, sent.signal]) }).catch(() => {});
    end();
    signal.throwIfAborted();
  }

  #refusal({ from, to, text }: BoardMessage): string | undefined {
    const { members } = this.#options;
    const { messageBytes, messagesMax } = boardLimits;
    if (to === from || (to !== "all" && !members.includes(to))) {
      const others = members.filter((name) => name !== from).join(", ");
      return `no other member is called ${JSON.stringify(to.slice(0, 100))}; there are ${others}, and all`;
    }
    const bytes = Buffer.byteLength(text);
    if (bytes > messageBytes)
      return `a message may have ${messageBytes} bytes, this one has ${bytes}; write it to a file and name the file`;
    if (this.#all.length >= messagesMax) return `the team has sent its ${messagesMax} messages`;
    return undefined;
  }
}

/** As the trajectory holds them. */
export function isSame(one: BoardMessage, other: BoardMessage): boolean {
  const isEqual = (field: "from" | "to" | "purpose") => one[field] === other[field];
  return isEqual("from") && isEqual("to") && isEqual("purpose") && one.text.toWellFormed() === other.text;
}

function reaches({ from, to }: BoardMessage, name: string): boolean {
  return to === name || (to === "all" && from !== name);
}
