// Reads a repository of a hub through the hub's own client: commits, files and card. Every request may be
// repeated, and every failure becomes a trouble with its cause and the way out.
import { retryAfterMs } from "@mlrb/agents/model/retry-after";
import { askHttp, bytesOf, expectStatus } from "@mlrb/kit/http/ask-http";
import { type HttpTrouble, troubleOf } from "@mlrb/kit/http/http-trouble";
import { inTime, repeated } from "@mlrb/kit/http/repeated";

export const publicHub = "https://huggingface.co";

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

const { signal } = new AbortController();
const tries = {
  ...{ tries: 4, signal },
  pauseMs(next: number, { seen: { headers = {} } }: HttpTrouble): number {
    return Math.min(retryAfterMs({ headers, delays: [], messages: [] }) ?? 250 * 2 ** (next - 2), pauseMsMax);
  },
};
const how = { follow: () => true, leaves: true, stallMs: answerMs };

/** The whole answer, so that a connection that breaks half-way is repeated too. Other hosts get no token. */
function repeatedFetch(endpoint: string): HubFetch {
  return (input, init, bytesMax = answerBytesMax) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init?.headers);
    if (url.origin !== new URL(endpoint).origin) headers.delete("authorization");
    const once = async (signal: AbortSignal) => {
      const answer = await askHttp(url, { ...how, headers: Object.fromEntries(headers), signal });
      expectStatus(answer, [200]);
      const body = await bytesOf(answer, bytesMax);
      const shown = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
      const whole = new Response(body, { headers: Object.fromEntries(shown) });
      return Object.defineProperty(whole, "url", { value: answer.url.href });
    };
    const limited = () => inTime(once, { signal, limitMs: answerMs });
    return inWords(url, () => repeated(limited, { ...tries, passing: ["failing", "silent"] }));
  };
}

/** The trouble of a connection becomes a HubTrouble, and that of a status keeps it. */
async function inWords<T>({ origin, pathname }: URL, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const { kind, message, seen } = troubleOf(error);
    const at = `${origin}${pathname}`;
    if (seen.status !== undefined) throw Object.assign(new Error(message), { statusCode: seen.status });
    if (kind === "wrong-bytes")
      throw new HubTrouble(
        "long-answer",
        `${at}: ${message}`,
        "try again; does HF_ENDPOINT name a hub, or does a proxy answer with a page of its own?",
      );
    throw new HubTrouble(
      "hub-unreachable",
      `${at}: ${message}`,
      "is the hub reachable from here? HF_ENDPOINT names another one",
    );
  }
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
