// What task.yaml expects of reference models, and whether this run's rows show it. Also where the check was left out or
// failed: then a reader sees which numbers did not come back.
import type { Expectation } from "@mlrb/formats/declared/task";
import type { Reading } from "@mlrb/formats/read-format";
import type { Metric } from "@mlrb/formats/report";
import type { Reference } from "@mlrb/formats/report/reference";
import { checkReference, expectedText, type ReferenceScore } from "@mlrb/kit/check-reference";
import type { AnchorRow } from "../read/parse-artifacts.ts";
import { plainText } from "../read/plain-text.ts";
import type { Floor } from "./floor-of.ts";

export function references(
  expected: Record<string, Expectation>,
  of: { task: string; metric: Metric; anchors: Reading<AnchorRow[]>; floor: Floor },
): Reference[] {
  const { task, metric, anchors, floor } = of;
  return Object.entries(expected).map(([model, expectation]) => {
    const score = scoreOf(model, anchors);
    const { passed, words } = checkReference(score, {
      expected: expectation,
      floor: floor.kind === "known" ? floor.value : undefined,
      direction: metric.direction,
    });
    return {
      task,
      metric: metric.name,
      model: plainText(model),
      value: score.kind === "scored" ? score.value : null,
      standardError: score.kind === "scored" ? score.standardError : null,
      expected: expectedText(expectation),
      source: plainText(expectation.source ?? ""),
      passed,
      found: plainText(words),
    };
  });
}

function scoreOf(model: string, anchors: Reading<AnchorRow[]>): ReferenceScore {
  if (anchors.kind === "unreadable") return { kind: "none", why: anchors.cause };
  const row = anchors.value.find(({ name }) => name === model);
  if (!row) return { kind: "none", why: "the scorer gave no row of this name" };
  if (row.rejected !== null) return { kind: "none", why: `rejected: ${row.rejected}` };
  return { kind: "scored", value: row.value, standardError: row.standardError };
}
