// Whether a submission keeps a memory limit, by the measured net peaks of the stage `memory` (ADR 44).

import type { MemoryMeasurement } from "@mlrb/formats/judged/memory";
import { clip } from "../admission/clip.ts";
import { type Finding, failed, notAdmitted, open, passed, type RuleMethod } from "./rule-method.ts";

/** The share of the limit by which measurements of one model differ, between machines and library versions. */
const band = 0.05;

/** `tokens` are read in one pass; then, with `newTokens`, read again and as many written. */
export const memoryMax: RuleMethod = {
  problem({ bytes, tokens, newTokens, ...others }) {
    const whole = [bytes, tokens, newTokens ?? 1].every(
      (value) => Number.isSafeInteger(value) && (value as number) > 0,
    );
    if (whole && Object.keys(others).length === 0) return undefined;
    const got = JSON.stringify({ bytes, tokens, newTokens, ...others });
    return `takes { bytes: whole number, tokens: whole number, newTokens?: whole number }, got ${got}`;
  },
  decide({ weights, memory }, { bytes, tokens, newTokens = 0 }) {
    if (!weights) return notAdmitted;
    const measurement = memory?.find(
      (one) => one.bytes === bytes && one.tokens === tokens && one.newTokens === newTokens,
    );
    if (!measurement?.runs.length) return open("its memory was not measured by this rule's recipe");
    return decideMeasured(measurement);
  },
};

/** The net peak lies between two medians: of what each run took at least, and at most. */
function decideMeasured({ bytes, tokens, newTokens, runs }: MemoryMeasurement): Finding {
  const least = median(runs.map((run) => run.atLeastBytes));
  const most = median(runs.map((run) => run.atMostBytes ?? Number.POSITIVE_INFINITY));
  const recipe = `reading ${tokens} tokens${newTokens > 0 ? ` and writing ${newTokens}` : ""}`;
  const peak = most === Number.POSITIVE_INFINITY ? `at least ${rounded(least)}` : rounded(most);
  const details = [...new Set(runs.flatMap(({ detail }) => detail ?? []))].map((detail) => clip(detail));
  const evidence = [
    `net peak ${peak}, ${ofRuns(runs.length)} ${recipe}; the limit is ${bytes} bytes`,
    ...details,
  ].join("; ");
  if (least > (1 + band) * bytes) return failed(evidence);
  if (most < (1 - band) * bytes) return passed(evidence);
  return open(evidence);
}

function ofRuns(count: number): string {
  if (count === 1) return "measured once";
  return count === 2 ? "the larger of 2 runs" : `median of ${count} runs`;
}

/** The upper one of the two in the middle of an even number. */
function median(values: number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]!;
}

/** To two digits, which repeated runs share. */
function rounded(bytes: number): string {
  return bytes === 0 ? "0 MB" : `about ${Number((bytes / 1e6).toPrecision(2))} MB`;
}
