// Shows what an attempt waits for: in a file that any process can read, and in the stage's log. Separate from the
// meter, which counts waits: a try between two waits does not end the trouble.
import { rmSync } from "node:fs";
import { sortWaits } from "@mlrb/core/ports/attempt-wait";
import type { AttemptWait } from "@mlrb/formats/attempt/attempt-wait";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";

export type WaitBoard = ReturnType<typeof waitBoard>;

export type WaitBoardOptions = {
  file: string;
  /**
   * Writes a line to the stage's log: when a wait for a person begins, when another has lasted, and when it is
   * over.
   */
  say(line: string): void;
  words(wait: AttemptWait): string;
  redact(text: string): string;
  /** ms since the epoch. */
  now?(): number;
};

/** A shorter wait for a provider is not logged. */
const saidMs = 10_000;

export function waitBoard(options: WaitBoardOptions) {
  const { file, say, words, redact, now = Date.now } = options;
  const waits = new Map<string, AttemptWait>();
  const said = new Map<string, string>();
  const write = () => {
    try {
      if (waits.size === 0) return rmSync(file, { force: true });
      const text = canonicalJson({ formatVersion: 1, waits: sortWaits([...waits.values()]) });
      writeWhole(file, text, { sync: false });
    } catch {
      // a full disk: a display must not end an attempt
    }
  };
  return {
    /** `id` names the waiting call, e.g. `call 3`. */
    show(id: string, given: AttemptWait): void {
      const wait = { ...given, detail: redact(given.detail) };
      waits.set(id, wait);
      write();
      const long = wait.why === "operator" || now() - Date.parse(wait.since) >= saidMs;
      const what = `${wait.why}: ${wait.cause}`;
      if (!long || said.get(id) === what) return;
      said.set(id, what);
      say(words(wait));
    },
    /** The wait is over, or the call. */
    clear(id: string): void {
      const wait = waits.get(id);
      if (!wait) return;
      waits.delete(id);
      write();
      if (!said.delete(id)) return;
      say(
        `continues after ${Math.round((now() - Date.parse(wait.since)) / 1000)} s of waiting (${wait.cause})`,
      );
    },
  };
}

/** The wait after a failed try. `since` and `now`: ms since the epoch. `leftMs`: until patience ends. */
export function failureWait({
  why,
  since,
  now,
  ...wait
}: Pick<AttemptWait, "why"> & {
  failure: Pick<AttemptWait, "cause" | "whose" | "detail">;
} & Record<"since" | "now" | "waitMs" | "leftMs", number>): AttemptWait {
  const { cause, whose, detail } = wait.failure;
  const time = (ms: number) => new Date(ms).toISOString();
  return {
    ...{ why, cause, whose, detail, since: time(since) },
    ...{ nextTry: time(now + wait.waitMs), giveUpAt: time(now + wait.leftMs) },
  };
}
