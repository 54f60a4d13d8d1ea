// Columns that several CSV files of a report share.
import * as t from "../schema.ts";

export const countOrNull = { type: ["integer", "null"], minimum: 0 } as const;
export const flagOrNull = { type: ["boolean", "null"] } as const;
/** On every row, so that a number keeps its label wherever the row is copied. */
export const head = {
  label: t.about(t.anyText, "the data behind the numbers, e.g. smoke or official"),
  warning: t.about(t.anyText, "the warning on smoke numbers; empty otherwise"),
  condition: t.about(t.textOrNull, "of all attempts: open, sealed or no-network; empty: unknown"),
} as const;

export const metric = {
  metric: t.anyText,
  primary: t.about(t.flag, "whether this metric decides the task"),
  unit: t.anyText,
  direction: t.about(t.oneOf("higher", "lower"), "which values are better"),
} as const;

export const scale = {
  baseline: t.about(t.numberOrNull, "the trivial baseline; empty: unknown"),
  reference: t.about(t.numberOrNull, "the reference model; empty: none, or unknown"),
} as const;

const originOfAttempt = t.about(t.textOrNull, "how an imported attempt was signed; empty: made here");
export const originOfMean = t.about(t.textOrNull, "how many of its attempts were imported; empty: none");

export const ofAttempt = { task: t.anyText, agent: t.anyText, seed: t.seed } as const;
/** What a reader of any number of an attempt must know. */
export const made = {
  verdict: t.about(t.anyText, "pass, undecided, disqualified, rejected or missing"),
  submission: t.about(t.textOrNull, "the submission's digest; empty: none"),
  origin: originOfAttempt,
  weak_limits: t.about(t.textOrNull, "limits that the kernel did not hold; empty: it held all"),
  skipped_checks: t.about(
    t.textOrNull,
    "checks of reference models that the attempt did not wait for; empty: none",
  ),
} as const;
