// What an attempt's exports are made from: its trajectory, which may be read again and again and is never held as
// a whole, and what stands beside it. Types only; the command line fills them in.

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
  /** null as long as nobody knows. */
  durationMs: number | null;
  /** Where it ran, e.g. `local`, with what is told of it. */
  executor: string;
  where: Record<string, string>;
  /** null with the reason where there is none to be read. */
  ledger: { read: Ledger } | { read: null; why: string };
  /** The trajectory from its first line on, as often as it is asked for. */
  lines(): Iterable<TrajectoryLine>;
  /** The whole of a long text, or what there is of it. */
  whole(text: LongText, bytesMax: number): WholeText;
  scores: AttemptScores | null;
  /** Digest of the submission as its record, the report and the page have it; absent where there is no record. */
  submission?: string | null;
};

/** `lost`: its supervisor is gone without a word; what is left of it is no measurement. */
export type AttemptState = "recorded" | "running" | "lost";

/** A line of the trajectory; `broken` is the last that is given, and says what is wrong from there on. */
export type TrajectoryLine =
  | { kind: "event"; index: number; time: string | null; sinceStartMs: number | null; event: TrajectoryEvent }
  /** An event of a kind or form that this version does not know. */
  | {
      kind: "other";
      index: number;
      time: string | null;
      sinceStartMs: number | null;
      name: string;
      fields: Record<string, unknown>;
    }
  | { kind: "broken"; index: number; why: string };

export type WholeText = { text: string; missing: null | string };

/** As the newest report of its pipeline and profile has them; absent where no report is of this submission. */
export type AttemptScores = {
  primary: string | null;
  final: NamedScore[];
  /** Of submissions as they stood at a share of the budget, in its order. */
  moments: { moment: string; atMs: number | null; scores: NamedScore[] }[];
};

export type NamedScore = {
  name: string;
  unit: string;
  direction: "higher" | "lower";
  digits: number;
  /** null: not known. */
  floor: number | null;
} & (
  | { kind: "scored"; value: number; standardError: number; items: number }
  | { kind: "rejected"; reason: string }
  | { kind: "not-measured"; cause: string }
);
