// The known model that a score is read against: the anchors row that task.yaml names for a metric. One that
// could not be measured, or was rejected, is unavailable, never a guess.

import type { Reading } from "@mlrb/formats/read-format";
import type { AnchorRow } from "../read/parse-artifacts.ts";

export type Anchor =
  | { kind: "known"; value: number; name: string; standardError: number | null }
  /** `why` is the whole of what to say of it. */
  | { kind: "unavailable"; name: string | null; why: string };

/** `declared` is the row's name; null where task.yaml names none for the scorer. */
export function anchorOf(declared: string | null, anchors: Reading<AnchorRow[]>): Anchor {
  if (declared === null) return { kind: "unavailable", name: null, why: "task.yaml names no anchor" };
  const unavailable = (why: string): Anchor => ({ kind: "unavailable", name: declared, why });
  if (anchors.kind === "unreadable")
    return unavailable(`the anchor ${declared} is missing: ${anchors.cause}`);
  const row = anchors.value.find((each) => each.name === declared);
  if (!row) return unavailable(`the anchors have no row ${declared}`);
  if (row.rejected !== null) return unavailable(`the anchor ${declared} was rejected: ${row.rejected}`);
  return { kind: "known", value: row.value, name: row.name, standardError: row.standardError };
}
