// Causes and numbers of a comparison of two reports, for people.
import { unreachable } from "@mlrb/core/ports/outcome";
import { quantityText } from "@mlrb/core/text/quantity";
import type { Metric } from "@mlrb/formats/report";
import { digitsText } from "../sections/digits-text.ts";
import { shortDigest } from "../sections/report-words.ts";
import type { Cause } from "./score-change.ts";

export function causeWords(cause: Cause): string {
  switch (cause.kind) {
    case "submission":
      return `another submission (${arrow(digestWord(cause.old), digestWord(cause.now))})`;
    case "verdict": {
      const rules = cause.rules.map(({ rule, old, now }) => `${rule}: ${arrow(old, now)}`);
      const why = rules.length > 0 ? ` (${rules.join(", ")})` : "";
      return `verdict ${arrow(cause.old, cause.now)}${why}`;
    }
    case "version":
      return `the scorer's version ${arrow(String(cause.old), String(cause.now))}`;
    case "items":
      return `items ${arrow(String(cause.old), String(cause.now))}`;
    case "key": {
      const { stage, words, old, now } = cause;
      return `${stage}: ${words} (${arrow(digestWord(old), digestWord(now))})`;
    }
    case "reference-model":
      return `the reference model ${cause.name} on the same data ${arrow(plain(cause.old), plain(cause.now))}`;
    case "baseline":
      return `trivial baseline ${arrow(plain(cause.old), plain(cause.now))}`;
    case "metric":
    case "data":
    case "condition":
    case "budget":
    case "preset":
      return `${cause.kind} ${arrow(cause.old, cause.now)}`;
    case "unknown":
      return `cause unknown: ${cause.why}`;
    default:
      return unreachable(cause);
  }
}

export function arrow(old: string, now: string): string {
  return `${old} → ${now}`;
}

/** A digest is shortened; another value of a key is shown as it is. */
function digestWord(text: string | null): string {
  if (text === null) return "none";
  return /^(sha256:)?[0-9a-f]{40,}$/.test(text) ? shortDigest(text) : text;
}

function plain(value: number | null): string {
  return value === null ? "none" : String(Number(value.toPrecision(4)));
}

/** With the scorer's digits: the same submissions' numbers are compared, so their errors over items do not matter. */
export function meanWords(value: number | null | undefined, { unit, digits }: Metric): string {
  if (value === null || value === undefined) return "none";
  return isScaled(value, unit) ? quantityText(value, null, unit) : digitsText(value, digits);
}

/** With a sign, in the metric's unit, and with at least two significant digits. */
export function differenceWords(value: number, { unit, digits }: Metric): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "+";
  if (isScaled(value, unit)) return `${sign}${quantityText(size, null, unit)}`;
  const exponent = Math.floor(Math.log10(size));
  return exponent < -7
    ? `${sign}${size.toExponential(1)}`
    : `${sign}${digitsText(size, Math.max(digits, 1 - exponent))}`;
}

/** Units for people instead of powers of ten. */
function isScaled(value: number, unit: string): boolean {
  return unit === "bytes" || Math.abs(value) >= 1e7;
}
