// The input of an attempt's story and exports: its trajectory, which can be read repeatedly and is never held
// whole, and the facts around it. Types only; the command line fills them in.

import type { Ledger } from "@mlrb/formats/attempt/ledger";
import type { LongText, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";

export type AttemptSource = {
  /** Digest of its record; of one that has none, the name of its folder. */
  id: string;
  state: AttemptState;
  slot: { pipeline: string; profile: string; stage: string };
  axes: Record<string, string | number>;
  /** Of the attempt key. */
  key: string;
  startedAt: string;
  /** null while it is unknown. */
  durationMs: number | null;
  /** Where it ran, e.g. `local`, with the executor's facts. */
  executor: string;
  where: Record<string, string>;
  /** null with the reason where it cannot be read. */
  ledger: { read: Ledger } | { read: null; why: string };
  /** The trajectory from its first line; can be called repeatedly. */
  lines(): Iterable<TrajectoryLine>;
  /** The whole of a long text, or the available part. */
  whole(text: LongText, bytesMax: number): WholeText;
  scores: AttemptScores | null;
  /** Of a lost attempt whose supervisor said why it ended. */
  failure?: string;
  /** Digest of the submission as its record, the report and the page have it; absent where there is no record. */
  submission?: string | null;
};

/** Of a lost attempt whose supervisor left no reason. */
export const unseenFailure = "its supervisor disappeared, so nothing was measured";

/** `lost`: it failed, or its supervisor disappeared; its files are no measurement. */
type AttemptState = "recorded" | "running" | "lost";

/** A line of the trajectory; `broken` is the last one and has the reason why the rest cannot be read. */
export type TrajectoryLine =
  | ({ kind: "event"; event: TrajectoryEvent } & LinePlace)
  /** An event of a kind or form that this version does not know. */
  | ({ kind: "other"; name: string; fields: Record<string, unknown> } & LinePlace)
  | { kind: "broken"; index: number; why: string };
type LinePlace = { index: number; time: string | null; sinceStartMs: number | null };

export type WholeText = { text: string; missing: null | string };

/** From the newest report of its pipeline and profile; absent where no report covers this submission. */
export type AttemptScores = {
  /** In words; with the machine's, if a person decided otherwise. */
  verdict: string;
  primary: string | null;
  final: NamedScore[];
  /** Of intermediate checkpoints, in order of their shares of the budget. */
  checkpoints: { checkpoint: string; atMs: number | null; scores: NamedScore[] }[];
};

export type NamedScore = {
  name: string;
  unit: string;
  direction: "higher" | "lower";
  digits: number;
  /** null: unknown. */
  baseline: number | null;
} & (
  | { kind: "scored"; value: number; standardError: number; items: number }
  | { kind: "rejected"; reason: string }
  | { kind: "not-measured"; cause: string }
);
