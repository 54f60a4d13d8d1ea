// What task.yaml expects of reference models, and whether this run's rows show it. Also where the check was left
// out or failed: then a reader sees which numbers did not come back.
import type { Expectation } from "@mlrb/formats/declared/task";
import type { Reading } from "@mlrb/formats/read-format";
import type { Metric } from "@mlrb/formats/report";
import type { ReferenceCheck } from "@mlrb/formats/report/reference-check";
import { checkReference, expectedText, type ReferenceScore } from "@mlrb/kit/check-reference";
import type { ReferenceRow } from "../read/parse-artifacts.ts";
import { plainText } from "../read/plain-text.ts";
import type { Baseline } from "./baseline-of.ts";

export function referenceChecks(
  expected: Record<string, Expectation>,
  of: { task: string; metric: Metric; references: Reading<ReferenceRow[]>; baseline: Baseline },
): ReferenceCheck[] {
  const { task, metric, references, baseline } = of;
  const rows = references.kind === "ok" ? references.value : [];
  const guesses = rows.flatMap(({ kind, value }) => (kind === "guess" && value !== null ? [value] : []));
  return Object.entries(expected).map(([model, expectation]) => {
    const score = scoreOf(model, references);
    const { passed, words } = checkReference(score, {
      expected: expectation,
      baseline: baseline.kind === "known" ? baseline.value : undefined,
      guesses,
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

function scoreOf(model: string, references: Reading<ReferenceRow[]>): ReferenceScore {
  if (references.kind === "unreadable") return { kind: "none", why: references.cause };
  const row = references.value.find(({ name }) => name === model);
  if (!row) return { kind: "none", why: "the scorer gave no row of this name" };
  if (row.rejected !== null) return { kind: "none", why: `rejected: ${row.rejected}` };
  const { value, standardError, extra } = row;
  return { kind: "scored", value, standardError, ...(extra && { extra }) };
}
