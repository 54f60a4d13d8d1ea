// Columns that several CSV files of a report share.
import { anyText, flag, numberOrNull, oneOf, seed, textOrNull } from "../schema.ts";

export const countOrNull = { type: ["integer", "null"], minimum: 0 } as const;
export const flagOrNull = { type: ["boolean", "null"] } as const;
export const about = <const Schema extends object>(schema: Schema, description: string) =>
  ({ ...schema, description }) as const;

/** On every row, so that a number keeps its label wherever the row is copied. */
export const head = {
  label: about(anyText, "the data behind the numbers, e.g. smoke or official"),
  warning: about(anyText, "the warning on smoke numbers; empty otherwise"),
  condition: about(textOrNull, "of all attempts: open, sealed or no-network; empty: unknown"),
} as const;

export const metric = {
  metric: anyText,
  primary: about(flag, "whether this metric decides the task"),
  unit: anyText,
  direction: about(oneOf("higher", "lower"), "which values are better"),
} as const;

export const scale = {
  floor: about(numberOrNull, "the trivial baseline; empty: unknown"),
  anchor: about(numberOrNull, "the reference model; empty: none, or unknown"),
} as const;

const originOfAttempt = about(textOrNull, "how an imported attempt was signed; empty: made here");
export const originOfMean = about(textOrNull, "how many of its attempts were imported; empty: none");

export const ofAttempt = { task: anyText, agent: anyText, seed } as const;
/** What a reader of any number of an attempt must know. */
export const made = {
  verdict: about(anyText, "pass, undecided, struck (disqualified), rejected or missing"),
  submission: about(textOrNull, "the submission's digest; empty: none"),
  origin: originOfAttempt,
  weak_limits: about(textOrNull, "limits that the kernel did not hold; empty: it held all"),
  skipped_checks: about(
    textOrNull,
    "checks of reference models that the attempt did not wait for; empty: none",
  ),
} as const;
