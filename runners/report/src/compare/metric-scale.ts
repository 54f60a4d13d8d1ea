// The scale of a task's metric from the trivial baseline (0) to the reference model (1), or why there is none.
import { type NotNormalised, normalisedScore, type Scale } from "@mlrb/core/statistics/normalised-score";
import type { Metric } from "@mlrb/formats/report";
import type { AnchorRow } from "../read/parse-artifacts.ts";
import { sentenceNumber } from "../sections/digits-text.ts";
import type { Anchor, Floor } from "./floor-of.ts";

export type MetricScale = { kind: "scale"; scale: Scale } | { kind: "none"; why: string };

/** `rows` are the task's anchors rows; the baseline's error is known if it is one of them. */
export function metricScale(
  metric: Metric,
  { floor, anchor, rows }: { floor: Floor; anchor: Anchor; rows: AnchorRow[] },
): MetricScale {
  if (floor.kind === "unavailable") return { kind: "none", why: floor.why };
  if (anchor.kind === "unavailable") return { kind: "none", why: anchor.why };
  const scale: Scale = {
    floor: floor.value,
    anchor: anchor.value,
    direction: metric.direction,
    standardError: differenceError(floor, anchor, rows),
  };
  const found = normalisedScore(floor.value, scale);
  if (found.kind === "normalised") return { kind: "scale", scale };
  const numbers: [string, string] = [
    sentenceNumber(metric, floor.value, floorError(floor, rows)),
    sentenceNumber(metric, anchor.value, anchor.standardError),
  ];
  return { kind: "none", why: whyText(found.why, anchor.name, numbers) };
}

/**
 * An upper bound of the standard error of reference − baseline: the sum of both errors. Rows hold no items, so their
 * difference cannot be paired. A baseline that is a number in task.yaml has no error.
 */
function differenceError(
  floor: Extract<Floor, { kind: "known" }>,
  anchor: Extract<Anchor, { kind: "known" }>,
  rows: AnchorRow[],
): number | undefined {
  const own = floorError(floor, rows);
  if (own === null || own === undefined || anchor.standardError === null) return undefined;
  return own + anchor.standardError;
}

function floorError({ name }: { name: string | null }, rows: AnchorRow[]): number | null | undefined {
  return name === null ? 0 : rows.find((row) => row.name === name)?.standardError;
}

function whyText(why: NotNormalised, name: string, [floor, anchor]: [string, string]): string {
  const reference = `the reference model ${name} (${anchor})`;
  const baseline = `the trivial baseline (${floor})`;
  switch (why) {
    case "anchor-not-better":
      return `${reference} is not better than ${baseline}`;
    case "anchor-too-near":
      return `${reference} is less than five standard errors from ${baseline}`;
    case "error-unknown":
      return `the difference between ${reference} and ${baseline} has no known standard error`;
    case "out-of-range":
      return `the trivial baseline and the reference model ${name} are too large`;
  }
}
