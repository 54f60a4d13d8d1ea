// Shows what an attempt waits for: in a file that any process can read, and in the stage's log. Kept apart from the
// meter, which counts the waits: a try that is being made between two waits is still the same trouble.
import { rmSync } from "node:fs";
import { sortWaits } from "@mlrb/core/ports/attempt-wait";
import type { AttemptWait } from "@mlrb/formats/attempt/attempt-wait";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";

export type WaitBoard = {
  /** `id` is whatever waits, e.g. `call 3`. */
  show(id: string, wait: AttemptWait): void;
  /** It goes on, or is over. */
  clear(id: string): void;
};

export type WaitBoardOptions = {
  /** Not written if absent. */
  file?: string;
  /** A line for the stage's log: when a wait for a person begins, when another has lasted, and when it is over. */
  say?(line: string): void;
  words(wait: AttemptWait): string;
  redact?(text: string): string;
  /** ms since the epoch. */
  now?(): number;
};

/** A shorter wait for a provider is not worth a line. */
const saidMs = 10_000;

export function waitBoard(options: WaitBoardOptions): WaitBoard {
  const { file, say = () => {}, words, redact = (text) => text, now = Date.now } = options;
  const waits = new Map<string, AttemptWait>();
  const said = new Map<string, string>();
  const write = () => {
    if (file === undefined) return;
    try {
      if (waits.size === 0) return rmSync(file, { force: true });
      const text = canonicalJson({ formatVersion: 1, waits: sortWaits([...waits.values()]) });
      writeWhole(file, text, { sync: false });
    } catch {
      // a full disk: what is only shown must not end an attempt
    }
  };
  return {
    show(id, given) {
      const wait = { ...given, detail: redact(given.detail) };
      waits.set(id, wait);
      write();
      const long = wait.why === "operator" || now() - Date.parse(wait.since) >= saidMs;
      const what = `${wait.why}: ${wait.cause}`;
      if (!long || said.get(id) === what) return;
      said.set(id, what);
      say(words(wait));
    },
    clear(id) {
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
