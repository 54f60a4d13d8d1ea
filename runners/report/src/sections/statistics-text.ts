// Numbers of statistics as tables show them.
import type { AgentDifference } from "@mlrb/formats/report/agent-comparison";
import { supportedText } from "./digits-text.ts";

/** Two significant digits; never 0. */
export function pText(p: number): string {
  return p < 0.001 ? p.toExponential(1) : p.toPrecision(2).replace(/^1\.0$/, "1");
}

/** `0.80 [0.38, 0.96]`; without an interval only the rate. */
export function rateText(rate: number, interval: readonly number[] | null): string {
  const bounds = interval === null ? "" : ` [${interval.map((bound) => bound.toFixed(2)).join(", ")}]`;
  return `${rate.toFixed(2)}${bounds}`;
}

/**
 * A difference of normalised scores, `+0.41` or `−0.41`, and its interval, with two digits or as many as the
 * interval supports; without a sign if they show no difference.
 */
export function differenceTexts({
  value,
  interval,
}: Pick<Extract<AgentDifference, { kind: "difference" }>, "value" | "interval">): {
  value: string;
  interval: string | null;
} {
  const error = interval === null ? null : (interval[1] - interval[0]) / (2 * 1.96);
  const signed = (number: number) => {
    const text = supportedText(number, 2, error);
    return Number(text) > 0 ? `+${text}` : text.replace("-", "−");
  };
  return {
    value: signed(value),
    interval: interval === null ? null : `[${interval.map(signed).join(", ")}]`,
  };
}
