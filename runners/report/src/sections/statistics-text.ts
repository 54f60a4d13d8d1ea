// Numbers of statistics as tables show them.
import { digitsText } from "./digits-text.ts";

/** Two significant digits; never 0. */
export function pText(p: number): string {
  return p < 0.001 ? p.toExponential(1) : p.toPrecision(2).replace(/^1\.0$/, "1");
}

/** `0.80 [0.38, 0.96]`; without an interval only the rate. */
export function rateText(rate: number, interval: readonly number[] | null): string {
  const bounds = interval === null ? "" : ` [${interval.map((bound) => bound.toFixed(2)).join(", ")}]`;
  return `${rate.toFixed(2)}${bounds}`;
}

/** A difference of normalised scores: `+0.41` or `−0.41` with two digits; without a sign if they show no difference. */
export function signedText(value: number): string {
  const text = digitsText(value, 2);
  return Number(text) > 0 ? `+${text}` : text.replace("-", "−");
}
