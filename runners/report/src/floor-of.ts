// The score of no skill, which failed attempts count as: a number from task.yaml or an anchors row that
// was measured in this run. One that could not be measured is unavailable, never a guess.
import type { AnchorRow } from "./parse-artifacts.ts";
import type { Parsed } from "./parsed.ts";

export type Floor =
  | { kind: "known"; value: number; name: string | null }
  | { kind: "unavailable"; why: string };

/** `declared` is what task.yaml says for the scorer: a number, a row's name, or null for nothing. */
export function floorOf(declared: number | string | null, anchors: Parsed<AnchorRow[]>): Floor {
  if (declared === null) return { kind: "unavailable", why: "task.yaml gives none for this scorer" };
  if (typeof declared === "number") return { kind: "known", value: declared, name: null };
  if (anchors.kind === "unreadable") {
    return { kind: "unavailable", why: `the anchors row ${declared} is missing: ${anchors.cause}` };
  }
  const row = anchors.value.find((each) => each.name === declared);
  return row
    ? { kind: "known", value: row.value, name: row.name }
    : { kind: "unavailable", why: `the anchors have no row ${declared}` };
}
