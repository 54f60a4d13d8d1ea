// A span of an attempt that may be an iteration: its runs, changes, output and spending, and the record made from them.
import type { Failure, IterationMetric, IterationRecord } from "@mlrb/formats/attempt/iterations";
import { type Claim, textOf } from "./agent-line.ts";
import type { CommandKind } from "./command-kind.ts";
import { errorStage } from "./error-stage.ts";
import { type PrintedValue, printedAs, printedValues } from "./printed-values.ts";
import type { TimedEvent } from "./timed-event.ts";

export type Run = { command: string; kind: CommandKind; failed: boolean; at: number };

export class Episode {
  from: number;
  to: number;
  startMs: number;
  endMs: number;
  time = "";
  /** Programs that trained or evaluated; only the first ones of many. */
  runs: Run[] = [];
  changed = false;
  /** The end of their output, to be searched for numbers. */
  printed = "";
  /** Some of the output was cut before it came here. */
  clipped = false;
  /** Output of the last program if it failed; empty after a success. */
  error = "";
  /** Spending of the model calls that led to it. */
  spent = nothingSpent();

  constructor(from: number, startMs: number) {
    this.from = this.to = from;
    this.startMs = this.endMs = startMs;
  }
}

const runsMax = 50;
const printedMax = 1 << 16;

/** Moves the end of `episode` to an event. */
export function extend(episode: Episode, { index, sinceStartMs, time }: TimedEvent): void {
  episode.to = Math.max(episode.to, index);
  episode.endMs = Math.max(episode.endMs, sinceStartMs);
  episode.time = time;
}

export function addPrinted(episode: Episode, text: string, clipped: boolean): void {
  episode.printed = `${episode.printed}\n${text}`.slice(-printedMax);
  episode.clipped ||= clipped;
}

export function addRun(episode: Episode, run: Run, said: string): void {
  if (episode.runs.length < runsMax) episode.runs.push(run);
  episode.error = run.failed ? said.slice(-4000) : "";
}

/** `unpriced`: one of the model calls had no known price. */
export type Spent = { tokens: number | null; dollars: number | null; unpriced: boolean };

export const nothingSpent = (): Spent => ({ tokens: null, dollars: null, unpriced: false });

/** Null is not zero: no call reported it. */
export function addSpent(to: Spent, { tokens, dollars, unpriced }: Spent): void {
  if (tokens !== null) to.tokens = (to.tokens ?? 0) + tokens;
  if (dollars !== null) to.dollars = (to.dollars ?? 0) + dollars;
  to.unpriced ||= unpriced;
}

export const ran = ({ runs }: Episode) => runs.some(({ failed }) => !failed);

/** `executed`: whether a program ran, or, if single programs are not seen, the agent's own program. */
export function recordOf(
  episode: Episode,
  claim: Claim | undefined,
  { id, parent, executed }: { id: string; parent: string | null; executed: boolean },
): IterationRecord {
  const last = episode.runs.at(-1);
  const values = printedValues(episode.printed);
  const metric = claim ? claim.metric : printedMetric(values);
  return {
    formatVersion: 1,
    id,
    parent,
    time: episode.time,
    sinceStartMs: episode.endMs,
    hypothesis: claim?.hypothesis ?? null,
    change: claim?.change ?? null,
    command:
      claim?.command ?? textOf(episode.runs.findLast(({ failed }) => !failed)?.command ?? last?.command),
    metric,
    predicted: claim?.predicted ?? null,
    decision: claim?.decision ?? null,
    measured: measuredOf(metric, values, episode.printed),
    cost: {
      wallMs: episode.endMs - episode.startMs,
      tokens: episode.spent.tokens,
      dollars: episode.spent.unpriced ? null : episode.spent.dollars,
    },
    failure: failureOf(episode),
    source: claim ? "agent" : "rule",
    executed,
    changed: episode.changed,
    counts: executed && episode.changed,
    events: [episode.from, episode.to],
  };
}

/** The last value that is not of the training data, else the last one. */
function printedMetric(values: PrintedValue[]): IterationMetric | null {
  const finite = values.filter(({ value }) => Number.isFinite(value));
  return (
    finite.findLast(({ split, name }) => split !== "train" && (split !== null || name !== "loss")) ??
    finite.at(-1) ??
    null
  );
}

function measuredOf(metric: IterationMetric | null, values: PrintedValue[], printed: string): number | null {
  if (metric === null) return null;
  const exact = metric.value === null ? undefined : printedAs(printed, metric.value);
  if (exact !== undefined) return exact;
  const named = values.findLast(
    ({ name, split, value }) =>
      Number.isFinite(value) &&
      name === metric.name.toLowerCase().replace(/[ _]/g, "-") &&
      (split === null || metric.split === null || split === metric.split),
  );
  return named?.value ?? null;
}

function failureOf({ error, runs }: Episode): Failure | null {
  const last = runs.at(-1);
  if (!last?.failed) return null;
  const where =
    errorStage(error, last.kind) ??
    (last.kind === "train" || last.kind === "evaluate" ? last.kind : "implement");
  const detail = textOf(error.trim().split("\n").at(-1), 200) ?? "its program failed";
  return { pattern: "run-failed", whose: "agent-error", where, detail, evidence: [last.at] };
}
