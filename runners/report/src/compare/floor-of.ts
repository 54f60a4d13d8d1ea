// The trivial baseline of a metric, at which failed attempts are scored: a number from task.yaml or an anchors row of
// this run. Without a measured value it is unavailable, never a guess.

import type { Reading } from "@mlrb/formats/read-format";
import type { AnchorRow } from "../read/parse-artifacts.ts";

export type Floor =
  | { kind: "known"; value: number; name: string | null }
  /** `why` is a complete sentence for the report. */
  | { kind: "unavailable"; name: string | null; why: string };

/** `declared` is task.yaml's entry for the scorer: a number, a row's name, or null for none. */
export function floorOf(declared: number | string | null, anchors: Reading<AnchorRow[]>): Floor {
  if (declared === null)
    return {
      kind: "unavailable",
      name: null,
      why: "no trivial baseline: task.yaml declares none for this scorer",
    };
  if (typeof declared === "number") return { kind: "known", value: declared, name: null };
  const unavailable = (why: string): Floor => ({ kind: "unavailable", name: declared, why });
  if (anchors.kind === "unreadable")
    return unavailable(`trivial baseline not measured: the row ${declared} is missing: ${anchors.cause}`);
  const row = anchors.value.find((each) => each.name === declared);
  if (!row) return unavailable(`no trivial baseline: no measured row is named ${declared}`);
  return row.rejected === null
    ? { kind: "known", value: row.value, name: row.name }
    : unavailable(`trivial baseline not measured: the row ${declared} was rejected: ${row.rejected}`);
}
