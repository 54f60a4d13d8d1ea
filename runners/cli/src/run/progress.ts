// The progress of a run: a few live lines on a terminal, occasional lines in a pipe. Reused instances are counted,
// not listed: a second run would show nothing else.

import { reasonWords } from "@mlrb/core/key/reasons";
import { type Instance, instanceId } from "@mlrb/core/plan/plan";
import { outcomeCause } from "@mlrb/core/ports/outcome";
import { heldWords } from "@mlrb/core/schedule/queued-for";
import type { Standing } from "@mlrb/core/schedule/time-left";
import { formatBytes, formatDuration } from "@mlrb/core/text/units";
import type { RunEvent } from "@mlrb/local/run/run-request";
import type { SpendingNow } from "../attempts/spending-now.ts";
import { type ShownWait, shownWaitText, toldWait } from "../show/attempt-wait-text.ts";
import { lastLines } from "../show/last-lines.ts";
import { shorten } from "../show/shorten.ts";
import { hasColor, isLive, type TerminalVariables } from "../show/terminal.ts";
import { eventLines } from "./event-lines.ts";
import type { Forecast } from "./forecast.ts";
import { LiveBlock } from "./live-block.ts";
import { linesMax, liveLines, type Now, runningLine } from "./live-lines.ts";
import { permanentLines } from "./permanent-lines.ts";

type Stream = { write(text: string): unknown; isTTY?: boolean; columns?: number; rows?: number };

export type ProgressOptions = {
  total: number;
  quiet: boolean;
  stream: Stream;
  /** `process.env` by default. */
  env?: TerminalVariables;
  forecast?: Forecast;
  /** Monotonic, in milliseconds. */
  now?: () => number;
  /** The last line of a log. */
  lastLine?: (log: string) => string | undefined;
  /** The last line of each running attempt's agent, by stage instance. */
  agentLines?: () => Map<string, string>;
  /** What instances that could start wait for, in words. */
  queued?: () => string;
  /** What attempts have spent. */
  spent?: () => SpendingNow;
  /** What attempts wait for now. */
  waits?: () => ShownWait[];
  /** Milliseconds since 1970. */
  wallNow?: () => number;
};

/** How often live lines are redrawn. */
const redrawMs = 200;

/** After this long without output, a pipe gets a line with what is running. */
const silenceMs = 60_000;

/** How often the end is estimated and logs are read. */
const lookMs = 1000;

/** How often the cost of attempts is read. */
const spentMs = 5000;

/** A stage that has written nothing for this long is shown with what it runs. */
const silentMs = 2000;

type Running = {
  index: number;
  /** Of its group. */
  group?: string | undefined;
  since: number;
  expectedMs?: number | undefined;
  log?: string;
  said?: string | undefined;
  /** Shown as long as it has written nothing. */
  doing?: string | undefined;
  /** What it waits for, and the kind of the last printed wait. */
  waits?: string | undefined;
  printed?: string | undefined;
};

export class Progress {
  readonly #options: ProgressOptions;
  readonly #now: () => number;
  readonly #lastLine: (log: string) => string | undefined;
  readonly #block: LiveBlock | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #running = new Map<string, Running>();
  /** By index, with its duration in this run. An instance found damaged ends a second time. */
  readonly #done = new Map<number, number | undefined>();
  readonly #failed = new Set<number>();
  readonly #color: boolean;
  #spokeAt: number;
  #reusedAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #sawWaitsAt = Number.NEGATIVE_INFINITY;
  #left: Now["left"];
  #spent: SpendingNow | undefined;
  #sawSpentAt = Number.NEGATIVE_INFINITY;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#lastLine = options.lastLine ?? ((log) => lastLines(log, 1)[0]);
    this.#spokeAt = this.#now();
    this.#color = hasColor(options.stream, options.env);
    if (options.quiet) return;
    const live = isLive(options.stream, options.env);
    if (live) this.#block = new LiveBlock(options.stream);
    this.#timer = setInterval(() => this.tick(), live ? redrawMs : lookMs).unref();
  }

  show(event: RunEvent): void {
    switch (event.kind) {
      case "started": {
        const { instance, reasons, expectedMs, log } = event;
        const doing = doingWords(instance);
        this.#begin(instance, { expectedMs, log, doing });
        if (this.#block && groupName(instance) !== undefined) return;
        this.note(`start   ${instance.id}`, reasons.slice(0, 3).map(reasonWords).join("; "));
        return;
      }
      case "waiting": {
        const { instance } = event;
        const why = heldWords(event);
        this.#begin(instance, { said: `waits: ${why}` });
        this.note(`waits   ${instance.id}  (${why})`);
        return;
      }
      case "loading": {
        const { instance, bytes } = event;
        this.#begin(instance, { said: `loads ${formatBytes(bytes)} from the remote cache` });
        return;
      }
      case "ended": {
        const { outcome, instance, durationMs, reasons } = event;
        this.#done.set(instance.index, outcome.kind === "succeeded" ? durationMs : undefined);
        this.#running.delete(instance.id);
        if (outcome.kind === "failed") this.#failed.add(instance.index);
        if (outcome.kind === "reused") {
          this.#reusedAt = this.#now();
          for (const one of reasons.filter(({ kind }) => kind === "remote"))
            this.note(`taken   ${instance.id}  (${reasonWords(one)})`);
          for (const one of reasons.filter(({ kind }) => kind === "undecided"))
            this.note(`decide  ${instance.id}  (${reasonWords(one)})`);
        } else if (outcome.kind === "succeeded" && !(this.#block && groupName(instance) !== undefined))
          this.note(`done    ${instance.id}  ${formatDuration(durationMs)}`);
        else if (outcome.kind === "failed") this.note(`FAILED  ${instance.id}  ${outcomeCause(outcome)}`);
        else if (outcome.kind === "skipped") this.note(`skipped ${instance.id}  (${outcomeCause(outcome)})`);
        return;
      }
      case "left":
        return; // printed at the end, with the command that stops it
      default:
        for (const line of eventLines(event)) this.note(line);
    }
  }

  #begin(instance: Instance, more: Omit<Running, "index" | "since">): void {
    const { id, index } = instance;
    this.#running.set(id, { index, since: this.#now(), group: groupName(instance), ...more });
  }

  /** Prints a permanent line. */
  note(text: string, reasons = ""): void {
    const { total, stream } = this.#options;
    const counter = `[${String(this.#done.size).padStart(String(total).length)}/${total}]`;
    const columns = this.#block && (stream.columns || 80);
    this.#print(permanentLines({ counter, text, reasons }, { columns, color: this.#color }));
  }

  /** Prints the rows of a task on a terminal, in lines narrower than it. */
  table(lines: ((look: { width: number; color: boolean }) => string[]) | undefined): void {
    if (!this.#block || !lines) return;
    this.#print(lines({ width: (this.#options.stream.columns || 80) - 1, color: this.#color }));
  }

  #print(lines: string[]): void {
    const { quiet, stream } = this.#options;
    if (quiet) return;
    this.#spokeAt = this.#now();
    if (this.#block) this.#block.above(lines, this.#lines());
    else stream.write(lines.map((line) => `${line}\n`).join(""));
  }

  /** Called regularly: updates what depends on the time. */
  tick(): void {
    if (this.#block) {
      this.#block.draw(this.#lines());
      return;
    }
    this.#seeWaits();
    if (this.#now() - this.#spokeAt >= silenceMs) {
      const text = runningLine(this.#look());
      if (text !== undefined) this.note(text);
    }
  }

  end(): void {
    clearInterval(this.#timer);
    this.#block?.clear();
  }

  /** The live lines below the permanent ones. */
  #lines(): string[] {
    if (this.#running.size === 0) return [];
    const { columns, rows } = this.#options.stream;
    return liveLines(this.#look(), { columns: columns || 80, rows: rows || 24, color: this.#color });
  }

  #look(): Now {
    this.#seeWaits();
    const now = this.#now();
    if (now - this.#lookedAt >= lookMs) {
      this.#lookedAt = now;
      // while results are being reused, most waiting instances will be reused as well
      const settled = now - this.#reusedAt >= lookMs;
      // the end of a wait is unknown, and so is the run's end
      const waits = [...this.#running.values()].some((one) => one.waits !== undefined);
      this.#left = settled && !waits ? this.#options.forecast?.(this.#standings(now)) : undefined;
      if (this.#block) this.#listen();
    }
    const { spent } = this.#options;
    if (spent && now - this.#sawSpentAt >= spentMs) {
      this.#sawSpentAt = now;
      this.#spent = spent();
    }
    const going = [...this.#running].map(([id, { group, since, expectedMs, said, doing, waits }]) => ({
      id: (this.#block && group) ?? id,
      stage: this.#block && group !== undefined ? id.replace(/\[.*$/, "") : undefined,
      forMs: now - since,
      expectedMs,
      said: said ?? (now - since >= silentMs ? doing : undefined),
      waits,
      spent: this.#spent?.running.get(id),
    }));
    return {
      done: this.#done.size,
      failed: this.#failed.size,
      total: this.#options.total,
      left: this.#left,
      going,
      queued: this.#options.queued?.(),
      spent: this.#spent?.words,
    };
  }

  /** Reads the last output of the instances that can be shown. */
  #listen(): void {
    const agents = this.#options.agentLines?.();
    for (const [id, running] of [...this.#running].slice(0, linesMax))
      if (running.log !== undefined) running.said = agents?.get(id) ?? this.#lastLine(running.log);
  }

  /** Prints once what an attempt waits for if the wait lasts or a person must end it. */
  #seeWaits(): void {
    const { waits, wallNow = Date.now } = this.#options;
    if (!waits || this.#now() - this.#sawWaitsAt < lookMs) return;
    this.#sawWaitsAt = this.#now();
    const shown = new Map(waits().map((one) => [one.stage, one]));
    const now = wallNow();
    for (const [id, running] of this.#running) {
      const wait = shown.get(id);
      running.waits = wait && shownWaitText(wait, now);
      if (!wait) {
        if (running.printed !== undefined) this.note(`resumed ${id}`);
        running.printed = undefined;
        continue;
      }
      const what = toldWait(wait, now);
      if (what === undefined || running.printed === what) continue;
      running.printed = what;
      this.note(`waits   ${id}  (${running.waits})`);
    }
  }

  #standings(now: number): (index: number) => Standing {
    const since = new Map([...this.#running.values()].map((one) => [one.index, one.since]));
    return (index) => {
      const began = since.get(index);
      if (began !== undefined) return { kind: "running", forMs: now - began };
      if (!this.#done.has(index)) return { kind: "waiting" };
      const tookMs = this.#done.get(index);
      return tookMs === undefined ? { kind: "ended" } : { kind: "ended", tookMs };
    };
  }
}

/** What a stage does that has written nothing: `runs scorers/bleu/score.py`. */
function doingWords({ action }: Instance): string {
  const { run } = action;
  return `no output yet; runs ${run.kind === "command" ? shorten([run.command].flat().join(" "), 80) : run.file}`;
}

/** `checks[task=…]`; undefined for a stage of no group. */
function groupName({ stage, axes }: Instance): string | undefined {
  return stage.spec.group === undefined ? undefined : instanceId(stage.spec.group, axes);
}
