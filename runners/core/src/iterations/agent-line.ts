// Reads a line of iterations.jsonl, an agent's claim. It is hostile: any field may have any type, so invalid
// fields are dropped one by one and the rest is kept.

import type { IterationMetric, IterationRecord } from "@mlrb/formats/attempt/iterations";
import { isTable } from "@mlrb/formats/is-table";

export type Claim = Pick<
  IterationRecord,
  "id" | "parent" | "hypothesis" | "change" | "command" | "metric" | "predicted" | "decision"
>;

const textMax = 500;
const idMax = 80;

/** The claim; undefined if the line has no id, or neither a hypothesis nor a change. Never throws. */
export function agentLine(line: string): Claim | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isTable(value)) return undefined;
  const id = idOf(value.id);
  const hypothesis = textOf(value.hypothesis);
  const change = textOf(value.change);
  if (id === null || (hypothesis === null && change === null)) return undefined;
  return {
    id,
    parent: idOf(value.parent),
    hypothesis,
    change,
    command: textOf(value.command),
    metric: metricOf(value.metric),
    predicted: numberOf(value.predicted),
    decision: textOf(value.decision),
  };
}

/** A number that is safe to calculate with: differences of huge claims overflow. */
function numberOf(value: unknown): number | null {
  return typeof value === "number" && Math.abs(value) < 1e30 ? value : null;
}

/** One bounded line without control characters; null for anything but non-empty text. */
export function textOf(value: unknown, max = textMax): string | null {
  if (typeof value !== "string") return null;
  const plain = value
    .slice(0, 4 * max)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  const characters = [...plain];
  if (characters.length === 0) return null;
  return characters.length > max ? `${characters.slice(0, max - 1).join("")}…` : plain;
}

function idOf(value: unknown): string | null {
  return typeof value === "number" ? textOf(String(value), idMax) : textOf(value, idMax);
}

function metricOf(value: unknown): IterationMetric | null {
  if (!isTable(value)) return null;
  const name = textOf(value.name, idMax);
  return name === null ? null : { name, split: textOf(value.split, idMax), value: numberOf(value.value) };
}
