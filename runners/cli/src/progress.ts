// What is going on, while it goes on: one live line on a terminal, calm lines in a pipe. Reused
// instances are counted, not listed: on a second run there would be nothing else to see.
import { outcomeCause } from "@mlrb/core/outcome";
import { reasonWords } from "@mlrb/core/reasons";
import { formatDuration } from "@mlrb/core/units";
import type { RunEvent } from "@mlrb/local/run-request";

type Stream = { write(text: string): unknown; isTTY?: boolean; columns?: number };

export class Progress {
  readonly #total: number;
  readonly #quiet: boolean;
  readonly #stream: Stream;
  readonly #live: boolean;
  readonly #running = new Map<string, { since: number; expectedMs: number | undefined }>();
  /** By index: what was found damaged ends a second time. */
  readonly #done = new Set<number>();
  #shown: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { total: number; quiet: boolean; stream: Stream }) {
    this.#total = options.total;
    this.#quiet = options.quiet;
    this.#stream = options.stream;
    this.#live = !this.#quiet && options.stream.isTTY === true && process.env.TERM !== "dumb";
    if (this.#live) this.#timer = setInterval(() => this.#redraw(), 200).unref();
  }

  show(event: RunEvent): void {
    switch (event.kind) {
      case "started": {
        this.#running.set(event.instance.id, { since: performance.now(), expectedMs: event.expectedMs });
        const why = event.reasons.slice(0, 3).map(reasonWords).join("; ");
        this.note(`start   ${event.instance.id}${why ? `  (${why})` : ""}`);
        return;
      }
      case "waiting":
        this.note(`waits   ${event.instance.id}  (${event.holder} does it)`);
        return;
      case "ended": {
        this.#done.add(event.instance.index);
        this.#running.delete(event.instance.id);
        const { outcome, instance, durationMs } = event;
        if (outcome.kind === "succeeded") this.note(`done    ${instance.id}  ${formatDuration(durationMs)}`);
        else if (outcome.kind === "failed") this.note(`FAILED  ${instance.id}  ${outcomeCause(outcome)}`);
        else if (outcome.kind === "skipped") this.note(`skipped ${instance.id}  (${outcomeCause(outcome)})`);
        return;
      }
      case "trouble":
        this.note(event.message);
    }
  }

  /** A line that stays. */
  note(text: string): void {
    if (this.#quiet) return;
    this.#clear();
    this.#stream.write(
      `[${String(this.#done.size).padStart(String(this.#total).length)}/${this.#total}] ${text}\n`,
    );
    this.#redraw();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#clear();
  }

  #clear(): void {
    if (this.#shown) this.#stream.write("\r\u001b[K");
    this.#shown = undefined;
  }

  #redraw(): void {
    if (!this.#live || this.#running.size === 0) return;
    const now = performance.now();
    const running = [...this.#running].map(([id, { since, expectedMs }]) => {
      const expected = expectedMs ? ` of ~${formatDuration(expectedMs)}` : "";
      return `${id} ${elapsed(now - since)}${expected}`;
    });
    const text = `${this.#done.size}/${this.#total}  ${running.join("  ")}`;
    const line = text.slice(0, Math.max(20, (this.#stream.columns ?? 80) - 1));
    if (this.#shown === line) return;
    this.#stream.write(`\r\u001b[K${line}`);
    this.#shown = line;
  }
}

/** Whole seconds: a live line that counts tenths only flickers. */
function elapsed(ms: number): string {
  return ms < 60_000 ? `${Math.floor(ms / 1000)} s` : formatDuration(ms);
}
