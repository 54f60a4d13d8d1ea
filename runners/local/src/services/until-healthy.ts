// Waits for the first answer of a server.
import { setTimeout as sleep } from "node:timers/promises";
import { formatDuration } from "@mlrb/core/text/units";
import { askHttp, discard } from "@mlrb/kit/http/ask-http";
import { troubleOf } from "@mlrb/kit/http/http-trouble";

const pauseMs = 100;
const answerMs = 5000;

/**
 * Resolves to undefined at the first answer of `url` with status 200 that is the server's own: `refusal` says why
 * it is not. Resolves to why there was none once `readyMs` are over, or as soon as `signal` aborts.
 */
export async function untilHealthy(
  url: string,
  {
    readyMs,
    signal,
    refusal = () => undefined,
  }: { readyMs: number; signal: AbortSignal; refusal?: () => string | undefined },
): Promise<string | undefined> {
  const end = performance.now() + readyMs;
  let last = "no answer";
  while (performance.now() < end) {
    if (signal.aborted) return last;
    const left = Math.max(1, Math.min(answerMs, Math.ceil(end - performance.now())));
    const limit = AbortSignal.any([signal, AbortSignal.timeout(left)]);
    try {
      const answer = await askHttp(new URL(url), { signal: limit, stallMs: left });
      discard(answer);
      const why = answer.status === 200 ? refusal() : `status ${answer.status}`;
      if (why === undefined) return undefined;
      last = why;
    } catch (error) {
      if (performance.now() < end) last = causeWords(error); // not of the request that the limit cut off
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
  return `GET ${new URL(url).pathname} did not answer with status 200 within ${formatDuration(readyMs)}; last: ${last}`;
}

function causeWords(error: unknown): string {
  const { code = "no answer" } = troubleOf(error).seen;
  return code === "ECONNREFUSED" ? "connection refused" : code;
}
