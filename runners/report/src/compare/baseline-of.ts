// The trivial baseline of a metric, at which failed attempts are scored, and its reference model: rows of this
// run, or a baseline that is a number in task.yaml. Without a measured value they are unavailable, never a guess.
import type { ReferenceKind } from "@mlrb/formats/judged/references";
import type { Reading } from "@mlrb/formats/read-format";
import type { ReferenceRow } from "../read/parse-artifacts.ts";

/** `why` is a complete sentence for the report. */
type Unavailable = { kind: "unavailable"; name: string | null; why: string };
export type Baseline = { kind: "known"; value: number; name: string | null } | Unavailable;
export type Reference =
  | { kind: "known"; value: number; name: string; of: ReferenceKind | null; standardError: number | null }
  | Unavailable;

/** `declared` is task.yaml's entry for the scorer: a number, a row's name, or null for none. */
export function baselineOf(declared: number | string | null, references: Reading<ReferenceRow[]>): Baseline {
  if (declared === null)
    return unavailable(null, "no trivial baseline: task.yaml declares none for this scorer");
  if (typeof declared === "number") return { kind: "known", value: declared, name: null };
  const found = measured(declared, references, {
    what: "trivial baseline",
    row: `trivial baseline not measured: the row ${declared}`,
  });
  return found.kind === "known" ? { kind: "known", value: found.value, name: declared } : found;
}

/** `declared` is the row's name; null where task.yaml names none for the scorer. */
export function referenceOf(declared: string | null, references: Reading<ReferenceRow[]>): Reference {
  if (declared === null) return unavailable(null, "task.yaml names no reference model");
  return measured(declared, references, { what: "reference model", row: `the reference model ${declared}` });
}

function measured(
  name: string,
  references: Reading<ReferenceRow[]>,
  words: { what: string; row: string },
): Reference {
  if (references.kind === "unreadable")
    return unavailable(name, `${words.row} is missing: ${references.cause}`);
  const row = references.value.find((each) => each.name === name);
  if (!row) return unavailable(name, `no ${words.what}: no measured row is named ${name}`);
  if (row.rejected !== null) return unavailable(name, `${words.row} was rejected: ${row.rejected}`);
  return { kind: "known", value: row.value, name, of: row.kind, standardError: row.standardError };
}

function unavailable(name: string | null, why: string): Unavailable {
  return { kind: "unavailable", name, why };
}
