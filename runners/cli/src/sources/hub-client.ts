// Reads a repository of a hub through the hub's own client: commits, files and card. Every request may be repeated, and
// every failure becomes a trouble with its cause and the way out.
import { setTimeout as sleep } from "node:timers/promises";
import { retryAfterMs } from "@mlrb/agents/model/retry-after";

export const publicHub = "https://huggingface.co";

/** Tries of one request, with the first. */
const triesMax = 4;
const answerMs = 60_000;
const pauseMsMax = 60_000;
/** Of one answer that is no file. A page of the file list is about 0.3 MiB. */
const answerBytesMax = 64 << 20;

/** An answer of more than `bytesMax` bytes becomes HubTrouble. */
type HubFetch = (input: string | URL | Request, init?: RequestInit, bytesMax?: number) => Promise<Response>;

export type HubAccess = { endpoint: string; token: string | undefined; fetch: HubFetch };

/** Why the hub gave no usable answer, for people. */
export class HubTrouble extends Error {
  readonly code: string;
  readonly help: string;

  constructor(code: string, message: string, help: string) {
    super(message);
    this.code = code;
    this.help = help;
  }
}

/** From HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE. Throws HubTrouble where they forbid requests. */
export function hubAccess(env: NodeJS.ProcessEnv): HubAccess {
  if (/^(1|on|yes|true)$/i.test(env.HF_HUB_OFFLINE ?? ""))
    throw new HubTrouble(
      "hub-offline",
      "HF_HUB_OFFLINE is set, so the hub is not asked",
      "unset HF_HUB_OFFLINE, or run this on a machine with a network and copy sources.lock.yaml",
    );
  const endpoint = (env.HF_ENDPOINT || publicHub).replace(/\/+$/, "");
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
    throw new HubTrouble(
      "bad-endpoint",
      `HF_ENDPOINT is ${endpoint}, not an address`,
      `unset HF_ENDPOINT, or write an address such as ${publicHub}`,
    );
  const token = env.HF_TOKEN || undefined;
  if (token !== undefined && !token.startsWith("hf_"))
    throw new HubTrouble("bad-token", "HF_TOKEN does not start with hf_", "set it to a token of the hub");
  return { endpoint, token, fetch: repeatedFetch(endpoint) };
}

/** Repeats requests that a hub is too busy for, or whose connection broke. Other hosts get no token. */
function repeatedFetch(endpoint: string): HubFetch {
  return async (input, init, bytesMax = answerBytesMax) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init?.headers);
    if (url.origin !== new URL(endpoint).origin) headers.delete("authorization");
    for (let tries = 1; ; tries++) {
      const answer = await oneTry(url, { ...init, headers }, bytesMax);
      const busy = answer instanceof Error ? answer.passing : answer.status === 429 || answer.status >= 500;
      if (!busy || tries === triesMax) {
        if (answer instanceof Error) throw answer;
        // the client would read the body, which a proxy may have written
        if (!answer.ok) throw Object.assign(new Error(answer.statusText), { statusCode: answer.status });
        return answer;
      }
      await sleep(pauseMs(answer, tries));
    }
  };
}

/** The whole answer, so that a connection that breaks half-way is repeated too. */
async function oneTry(url: URL, init: RequestInit, bytesMax: number): Promise<Response | Broken> {
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(answerMs) });
    if (!answer.ok) {
      await answer.body?.cancel();
      return answer;
    }
    const body = await bodyOf(answer, bytesMax);
    const { status, statusText, headers } = answer;
    const whole = new Response(body.byteLength > 0 ? body : null, { status, statusText, headers });
    Object.defineProperty(whole, "url", { value: answer.url });
    return whole;
  } catch (error) {
    if (error instanceof HubTrouble) throw error;
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    const why = cause?.code ?? cause?.message ?? message;
    return new Broken(`${url.origin}${url.pathname}: ${why}`, !/ECONNREFUSED|ENOTFOUND/.test(why));
  }
}

/** Counts what is unpacked, whatever length the answer announces. */
async function bodyOf({ body, url }: Response, bytesMax: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) {
      const { origin, pathname } = new URL(url);
      throw new HubTrouble(
        "long-answer",
        `${origin}${pathname}: the answer has more than ${bytesMax} bytes, and was not read further`,
        "try again; does HF_ENDPOINT name a hub, or does a proxy answer with a page of its own?",
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

class Broken extends HubTrouble {
  /** Whether the next try may succeed. */
  readonly passing: boolean;

  constructor(message: string, passing: boolean) {
    super("hub-unreachable", message, "is the hub reachable from here? HF_ENDPOINT names another one");
    this.passing = passing;
  }
}

function pauseMs(answer: Response | Broken, tries: number): number {
  const asked =
    answer instanceof Error
      ? null
      : retryAfterMs({ headers: Object.fromEntries(answer.headers), delays: [], messages: [] });
  return Math.min(asked ?? 250 * 2 ** (tries - 1), pauseMsMax);
}

/** The cause of an error of the client; `what` was asked for. */
export function hubTrouble(error: unknown, what: string): HubTrouble {
  if (error instanceof HubTrouble) return error;
  const { statusCode, message } = error as Error & { statusCode?: number };
  const trouble = (code: string, cause: string, help: string) =>
    new HubTrouble(code, `${what}: ${cause}`, help);
  switch (statusCode) {
    case undefined:
      return trouble(
        "hub-answer",
        `the hub's answer cannot be read (${message})`,
        "try again; does HF_ENDPOINT name a hub?",
      );
    case 401:
    case 403:
      return trouble(
        "hub-closed",
        `the hub refuses access (${statusCode})`,
        "accept the terms on the repository's page, and set HF_TOKEN to a token that may read it",
      );
    case 404:
      return trouble(
        "hub-missing",
        "the hub has no such repository, commit or file (404)",
        "check repository, type and revision; the hub also answers this for a private repository without HF_TOKEN",
      );
    case 429:
      return trouble("hub-busy", "too many requests (429)", "try again later; HF_TOKEN raises the limit");
    default:
      return trouble("hub-failed", `the hub answered ${statusCode}`, "try again later");
  }
}
