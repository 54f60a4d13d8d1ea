// A span of an attempt that may be an iteration: its runs, changes, output and spending, and the record made from
// them.
import type { IterationMetric, IterationRecord } from "@mlrb/formats/attempt/iterations";
import { type Claim, textOf } from "./agent-line.ts";
import { evaluatedValues, measuredValues } from "./measured-values.ts";
import type { TimedEvent } from "./timed-event.ts";

export class Episode {
  from: number;
  to: number;
  startMs: number;
  endMs: number;
  time = "";
  /** A program ran to its end without an error. */
  ran = false;
  /** The agent's files or its submission changed. */
  changed = false;
  /** Its submission changed. */
  submitted = false;
  /** The command of the last program, and of the last one that measured something. */
  command: string | null = null;
  measuredBy: string | null = null;
  /** The values that its programs measured, by name and split. */
  measured = new Map<string, number>();
  /** The end of its programs' output. */
  printed = "";
  /** Spending of the model calls that led to it. */
  spent = nothingSpent();

  constructor(from: number, startMs: number) {
    this.from = this.to = from;
    this.startMs = this.endMs = startMs;
  }
}

const printedMax = 1 << 16;

/** Moves the end of `episode` to an event. */
export function extend(episode: Episode, { index, sinceStartMs, time }: TimedEvent): void {
  episode.to = Math.max(episode.to, index);
  episode.endMs = Math.max(episode.endMs, sinceStartMs);
  episode.time = time;
}

export function addPrinted(episode: Episode, text: string): void {
  episode.printed = (episode.printed + text).slice(-printedMax);
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

/** `executed`: whether a program ran, or, if single programs are not seen, the agent's own program. */
export function recordOf(
  episode: Episode,
  claim: Claim | undefined,
  { id, parent, executed }: { id: string; parent: string | null; executed: boolean },
): IterationRecord {
  return {
    formatVersion: 1,
    id,
    parent,
    time: episode.time,
    sinceStartMs: episode.endMs,
    hypothesis: claim?.hypothesis ?? null,
    change: claim?.change ?? null,
    command: claim?.command ?? textOf(episode.measuredBy ?? episode.command),
    metric: claim ? claim.metric : measuredMetric(episode.printed),
    predicted: claim?.predicted ?? null,
    decision: claim?.decision ?? null,
    cost: {
      wallMs: episode.endMs - episode.startMs,
      tokens: episode.spent.tokens,
      dollars: episode.spent.unpriced ? null : episode.spent.dollars,
    },
    source: claim ? "agent" : "rule",
    executed,
    changed: episode.changed,
    counts: executed && (episode.changed || evaluatedValues(episode.printed).length > 0),
    events: [episode.from, episode.to],
  };
}

/** The last value that is not of the training data, else the last one. A loss of NaN has no value, not an earlier one. */
function measuredMetric(printed: string): IterationMetric | null {
  const last = evaluatedValues(printed).at(-1) ?? measuredValues(printed).at(-1);
  return last === undefined ? null : { ...last, value: Number.isFinite(last.value) ? last.value : null };
}
