// From the texts of a report's input files to checked data: formats, and rules that a format cannot express.

import { checkpoint } from "@mlrb/formats/judged/checkpoint";
import { kinship } from "@mlrb/formats/judged/kinship";
import { type ReferenceKind, references } from "@mlrb/formats/judged/references";
import { score } from "@mlrb/formats/judged/score";
import { kindOfRules, type RuleVerdict, verdict } from "@mlrb/formats/judged/verdict";
import type { Reading } from "@mlrb/formats/read-format";
import type { Metric } from "@mlrb/formats/report";
import type { AttemptCheckpoint, AttemptScore, AttemptVerdict, Seed } from "@mlrb/formats/report/attempt";
import type { RowValue } from "@mlrb/formats/report/row";
import { plainText } from "./plain-text.ts";
import { readPlain, unreadable } from "./read-plain.ts";

export type Verdict = Omit<Exclude<AttemptVerdict, { kind: "missing" }>, "machine">;

/** `kind` and `parameters` are null where the scorer's row names none. */
export type ReferenceRow = {
  name: string;
  title: string;
  kind: ReferenceKind | null;
  parameters: number | null;
  extra?: Record<string, number>;
} & RowValue;

/** Rules for one attempt that only the attempts of a task together decide. */
export type FurtherRules = { agent: string; seed: Seed; rules: RuleVerdict[] };

/** A score of `metric`; one of another scorer, unit or direction is foreign and unreadable. */
export function parseScore(text: string, metric: Metric): Reading<AttemptScore> {
  const reading = readPlain(score, text);
  if (reading.kind === "unreadable") return reading;
  const found = reading.value;
  if (found.scorer !== metric.name) return unreadable(`its scorer is not "${metric.name}"`);
  if (found.unit !== metric.unit) return unreadable(`its unit is not "${metric.unit}"`);
  if (found.direction !== metric.direction) return unreadable(`its direction is not "${metric.direction}"`);
  if (found.kind === "rejected") return { kind: "ok", value: { kind: "rejected", reason: found.reason } };
  if (found.kind === "not-measured")
    return { kind: "ok", value: { kind: "not-measured", cause: found.reason } };
  const { kind, value, standardError, items, groups, extra, version } = found;
  const outside = outOfRange(value, metric);
  if (outside !== undefined) return unreadable(outside);
  return { kind: "ok", value: { kind, value, standardError, items, groups, extra, version } };
}

/** Sums of many items may be slightly out of range: sacrebleu gives 100.00000000000004. */
function outOfRange(value: number, { range }: Metric): string | undefined {
  if (range === null) return undefined;
  const [least, most] = range;
  const slack = 1e-6 * Math.max(1, Math.abs(least), Math.abs(most ?? 0));
  if (value < least - slack) return `value ${value} is below the minimum ${least}`;
  if (most !== null && value > most + slack) return `value ${value} is above the maximum ${most}`;
  return undefined;
}

/** A verdict; one whose kind its own rules contradict is unreadable. */
export function parseVerdict(text: string): Reading<Verdict> {
  const reading = readPlain(verdict, text);
  if (reading.kind === "unreadable") return reading;
  const { kind, rules, facts, notScorable, built } = reading.value;
  const said = kindOfRules(rules);
  if ((kind === "pass" || kind === "undecided") && kind !== said)
    return unreadable(`its verdict is ${kind}, but its rules make it ${said}`);
  const whole = {
    kind,
    rules,
    facts,
    ...(kind === "rejected" && notScorable && { notScorable }),
    ...(built && { built }),
  };
  return { kind: "ok", value: whole };
}

/** The further rules of each attempt of a task, by agent and seed. */
export function parseKinship(text: string): Reading<FurtherRules[]> {
  const reading = readPlain(kinship, text);
  return reading.kind === "ok" ? { kind: "ok", value: reading.value.attempts } : reading;
}

/** The submission at an intermediate checkpoint, and whether it may be loaded. */
export function parseCheckpoint(
  text: string,
): Reading<Exclude<AttemptCheckpoint["admission"], { kind: "missing" }>> {
  const reading = readPlain(checkpoint, text);
  if (reading.kind === "unreadable") return reading;
  const { stood, admitted, reasons } = reading.value;
  if (stood.kind === "none") return { kind: "ok", value: { kind: "none" } };
  if (admitted) return { kind: "ok", value: { kind: "admitted" } };
  if (reasons.length === 0) return unreadable("it is not admitted and gives no reason");
  const why = plainText(reasons.map(({ detail }) => detail).join("; "));
  return { kind: "ok", value: { kind: "rejected", why } };
}

/** The references' rows for one scorer; names must differ. */
export function parseReferences(text: string, scorer: string): Reading<ReferenceRow[]> {
  const reading = readPlain(references, text);
  if (reading.kind === "unreadable") return reading;
  if (reading.value.scorer !== scorer) return unreadable(`its scorer is not "${scorer}"`);
  const rows = reading.value.rows.map((row): ReferenceRow => {
    const { name, title, kind = null, parameters = null } = row;
    const extra = "extra" in row && row.extra !== undefined && { extra: row.extra };
    const about = { name, title, kind, parameters, ...extra };
    return "rejected" in row
      ? { ...about, value: null, standardError: null, rejected: row.rejected }
      : { ...about, value: row.value, standardError: row.standardError ?? null, rejected: null };
  });
  const names = new Set(rows.map((row) => row.name));
  if (names.size !== rows.length) return unreadable("two rows have the same name");
  return { kind: "ok", value: rows };
}
