// An attempt's research as found by rules, in lines: its experiments, and its failures. Pure.
import type { IterationMetric, IterationRecord, IterationsFile } from "@mlrb/formats/attempt/iterations";

type FoundIterations = Extract<IterationsFile, { kind: "found" }>;

/** Most experiments that are listed; the rest is counted. */
const iterationsMax = 30;
const failuresMax = 8;

export function researchLines({ iterations, iterationsMore, failures }: FoundIterations): string[] {
  const more = Math.max(0, iterations.length - iterationsMax) + iterationsMore;
  const failed = failures.slice(0, failuresMax);
  return [
    ...iterations.slice(0, iterationsMax).map(iterationLine),
    ...(more > 0 ? [`${more} more experiments`] : []),
    ...failed.map(
      ({ where, whose, pattern, detail, evidence }) =>
        `failed at ${where} (${whose}): ${pattern}: ${detail}${evidence.length > 0 ? ` [events ${evidence.join(", ")}]` : ""}`,
    ),
    ...(failures.length > failed.length ? [`${failures.length - failed.length} more failures`] : []),
  ];
}

function iterationLine(one: IterationRecord): string {
  const { id, source, counts, hypothesis, change, command, metric, measured, decision } = one;
  const about =
    source === "rule" ? "found by rule" : counts ? "reported by the agent" : "claimed, but no program ran";
  const parts = [
    hypothesis ?? change ?? command ?? "",
    metric && `${source === "rule" ? "printed" : "reported"} ${metricWords(metric)}`,
    measured !== null && source === "agent" && `measured ${measured}`,
    decision,
  ].filter((part) => typeof part === "string" && part !== "");
  return `${id} (${about}): ${parts.join("; ")}`;
}

function metricWords({ name, split, value }: IterationMetric): string {
  return `${name}${split === null ? "" : ` on ${split}`} ${value ?? "without a value"}`;
}
