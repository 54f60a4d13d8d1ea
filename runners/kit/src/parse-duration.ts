// Parses durations, always with a unit: a bare 24 could be hours or seconds, and an attempt that is stopped after
// 24 seconds may cost as much as a whole one.
const durations: Record<string, number> = { ms: 1, s: 1e3, m: 60e3, h: 3600e3, d: 86400e3 };

/** Milliseconds of `24h`, `90s`, `1h30m`; undefined if it is not a duration. Zero is a duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, value, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(value) * durations[unit!]!;
  }
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : undefined;
}
