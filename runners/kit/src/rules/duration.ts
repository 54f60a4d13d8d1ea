// Durations as pipelines write them, always with a unit, for scripts that get them as parameters.
const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `10m` or `1h30m`. Throws for anything else, naming `what`. */
export function duration(value: unknown, what: string): number {
  const text = typeof value === "string" ? value : "";
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join("") !== text) {
    throw new Error(`${what} is ${JSON.stringify(value)}, not a duration with a unit such as 10m or 24h`);
  }
  return Math.round(parts.reduce((sum, [, number, unit]) => sum + Number(number) * units[unit!]!, 0));
}
