// The reference model of a metric: the anchors row that task.yaml names. Without a measured value it is unavailable,
// never a guess.

import type { AnchorKind } from "@mlrb/formats/judged/anchors";
import type { Reading } from "@mlrb/formats/read-format";
import type { AnchorRow } from "../read/parse-artifacts.ts";

export type Anchor =
  | { kind: "known"; value: number; name: string; of: AnchorKind | null; standardError: number | null }
  /** `why` is a complete sentence for the report. */
  | { kind: "unavailable"; name: string | null; why: string };

/** `declared` is the row's name; null where task.yaml names none for the scorer. */
export function anchorOf(declared: string | null, anchors: Reading<AnchorRow[]>): Anchor {
  if (declared === null)
    return { kind: "unavailable", name: null, why: "task.yaml names no reference model" };
  const unavailable = (why: string): Anchor => ({ kind: "unavailable", name: declared, why });
  if (anchors.kind === "unreadable")
    return unavailable(`the reference model ${declared} is missing: ${anchors.cause}`);
  const row = anchors.value.find((each) => each.name === declared);
  if (!row) return unavailable(`no reference model: no measured row is named ${declared}`);
  if (row.rejected !== null)
    return unavailable(`the reference model ${declared} was rejected: ${row.rejected}`);
  return {
    kind: "known",
    value: row.value,
    name: row.name,
    of: row.kind,
    standardError: row.standardError,
  };
}
