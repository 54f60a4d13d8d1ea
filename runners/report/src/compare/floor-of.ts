// The trivial baseline of a metric, at which failed attempts are scored, and its reference model: rows of this run, or a
// baseline that is a number in task.yaml. Without a measured value they are unavailable, never a guess.
import type { AnchorKind } from "@mlrb/formats/judged/anchors";
import type { Reading } from "@mlrb/formats/read-format";
import type { AnchorRow } from "../read/parse-artifacts.ts";

/** `why` is a complete sentence for the report. */
type Unavailable = { kind: "unavailable"; name: string | null; why: string };
export type Floor = { kind: "known"; value: number; name: string | null } | Unavailable;
export type Anchor =
  | { kind: "known"; value: number; name: string; of: AnchorKind | null; standardError: number | null }
  | Unavailable;

/** `declared` is task.yaml's entry for the scorer: a number, a row's name, or null for none. */
export function floorOf(declared: number | string | null, anchors: Reading<AnchorRow[]>): Floor {
  if (declared === null)
    return unavailable(null, "no trivial baseline: task.yaml declares none for this scorer");
  if (typeof declared === "number") return { kind: "known", value: declared, name: null };
  const found = measured(declared, anchors, {
    what: "trivial baseline",
    row: `trivial baseline not measured: the row ${declared}`,
  });
  return found.kind === "known" ? { kind: "known", value: found.value, name: declared } : found;
}

/** `declared` is the row's name; null where task.yaml names none for the scorer. */
export function anchorOf(declared: string | null, anchors: Reading<AnchorRow[]>): Anchor {
  if (declared === null) return unavailable(null, "task.yaml names no reference model");
  return measured(declared, anchors, { what: "reference model", row: `the reference model ${declared}` });
}

function measured(name: string, anchors: Reading<AnchorRow[]>, words: { what: string; row: string }): Anchor {
  if (anchors.kind === "unreadable") return unavailable(name, `${words.row} is missing: ${anchors.cause}`);
  const row = anchors.value.find((each) => each.name === name);
  if (!row) return unavailable(name, `no ${words.what}: no measured row is named ${name}`);
  if (row.rejected !== null) return unavailable(name, `${words.row} was rejected: ${row.rejected}`);
  return { kind: "known", value: row.value, name, of: row.kind, standardError: row.standardError };
}

function unavailable(name: string | null, why: string): Unavailable {
  return { kind: "unavailable", name, why };
}
