// Keeps answers to calls that were held for long. A program whose own timeout passed meanwhile gives its request
// up and sends it again: it gets the answer that is already paid for.
import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export type KeptAnswer = { status: number; headers: Record<string, string>; body: Buffer };

type Entry = { response: ServerResponse; answer: Promise<KeptAnswer | undefined>; endedAt?: number };

/** How soon after an answer its program may send the call again. */
const againMs = 10_000;
/** Time for the news to arrive that the program has gone away. */
const closeMs = 300;

export function keptAnswers() {
  const entries = new Map<string, Entry>();
  return {
    /** `answer` resolves to undefined if the call failed. */
    keep(key: string, entry: { response: ServerResponse; answer: Promise<KeptAnswer | undefined> }): void {
      const kept: Entry = { ...entry };
      entries.set(key, kept);
      void entry.answer.then((answer) => {
        kept.endedAt = Date.now();
        if (!answer && entries.get(key) === kept) entries.delete(key);
      });
    },
    /** Returns an answer once. Undefined if an equal call is a new one. */
    async take(key: string): Promise<KeptAnswer | undefined> {
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (entry.endedAt === undefined && !entry.response.destroyed) await sleep(closeMs);
      const { endedAt, response } = entry;
      const lost = response.destroyed && !response.writableFinished;
      if (endedAt === undefined ? !lost : !lost && Date.now() - endedAt > againMs) return undefined;
      entries.delete(key);
      return await entry.answer;
    },
  };
}

export function callKey(path: string, body: string): string {
  return createHash("sha256").update(`${path}\n${body}`).digest("hex");
}
