// Reads how long a provider asks to wait: from headers, Google's RetryInfo, or the words of an error. Pure.

type RetryHeaders = {
  headers: Record<string, string | string[] | undefined>;
  /** `retryDelay` of Google's RetryInfo, e.g. `6.2s`. */
  delays: string[];
  messages: string[];
};

/** In ms; null if nothing readable is said. The delay in a body is more precise than a header in seconds. */
export function retryAfterMs({ headers, delays, messages }: RetryHeaders): number | null {
  const inMs = numberOf(headers["retry-after-ms"]);
  if (inMs !== null) return Math.round(inMs);
  for (const delay of delays) {
    const ms = spanMs(delay);
    if (ms !== null) return ms;
  }
  const seconds = numberOf(headers["retry-after"]);
  if (seconds !== null) return Math.round(seconds * 1000);
  const then = Date.parse(String(headers["retry-after"]));
  const now = Date.parse(String(headers.date));
  if (!Number.isNaN(then) && !Number.isNaN(now)) return Math.max(0, then - now);
  for (const message of messages) {
    const words =
      /(?:retry|try again) (?:in|after) ([\d.]+ ?(?:ms|[hms])[\d.hms]*|[\d.]+ (?:seconds?|minutes?))/iu;
    const ms = spanMs(words.exec(message)?.[1] ?? "");
    if (ms !== null) return ms;
  }
  return null;
}

function numberOf(value: string | string[] | undefined): number | null {
  if (typeof value !== "string" || value.trim() === "") return null;
  const number = Number(value);
  return number >= 0 && Number.isFinite(number) ? number : null;
}

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** `6.2s`, `1m30s`, `120ms`, `20 seconds`; null for other text. */
function spanMs(text: string): number | null {
  const short = text
    .replace(/ ?seconds?/iu, "s")
    .replace(/ ?minutes?/iu, "m")
    .replaceAll(" ", "");
  // a sentence ends in a full stop
  const parts = [...short.replace(/\.$/u, "").matchAll(/(\d+(?:\.\d+)?)(ms|[hms])/gu)];
  if (parts.length === 0) return null;
  const ms = parts.reduce(
    (sum, [, count, unit]) => sum + Number(count) * unitMs[unit as keyof typeof unitMs],
    0,
  );
  return Math.round(ms);
}
