// What a scorer says of one submission. Scored and rejected are two variants; "not measured" is
// never written by a scorer: the report derives it from a stage that failed, since that is our fault.
export type Score = {
  formatVersion: 1;
  scorer: string;
  /** The scorer's own version, from scorer.yaml: raised when its meaning changes. */
  version: number;
  unit: string;
  direction: "higher" | "lower";
} & (Scored | Rejected);

export type Scored = {
  kind: "scored";
  value: number;
  /** Standard error over items (documents, pairs, questions), never over attempts. */
  standardError: number;
  /** How many items the value was taken over. */
  items: number;
  /** Finer values by group name, e.g. a phenomenon or a subject. */
  groups: Record<string, { value: number; items: number }>;
  /** Further numbers under their own names, e.g. `tiesHalf`. */
  extra: Record<string, number>;
};

export type Rejected = { kind: "rejected"; reason: string };

/** What the anchors stage gives for one task and scorer: rows to read the scores against. */
export type Anchors = {
  formatVersion: 1;
  scorer: string;
  rows: AnchorRow[];
};

type AnchorRow = {
  /** e.g. `unigram`, `bigram`, `chance`. */
  name: string;
  /** One sentence for the table's foot. */
  title: string;
} & ({ value: number; standardError?: number; rejected?: undefined } | RejectedRow);

/** Of a model that could not be scored: the reason in place of a number. */
type RejectedRow = { rejected: string; value?: undefined };
