// Requests of the supervisor to hubs, package indexes and code hosts. It follows redirects itself, so an agent
// never learns where a file lies, and cannot be sent anywhere.
import type { IncomingHttpHeaders } from "node:http";
import { askHttp, bytesOf, expectStatus, type HttpAnswer, type HttpRequest } from "@mlrb/kit/http/ask-http";
import { troubleOf } from "@mlrb/kit/http/http-trouble";

/** By this code, clients of the hub show the message of a refused request. */
const gated = "GatedRepo";

/** What the agent's program is answered instead of a file. `status` is HTTP's. */
export class NotServed extends Error {
  readonly status: number;
  readonly why: RefusalCause;
  /** The hub's own word for it, which clients turn into their errors. */
  readonly code: string | undefined;

  constructor(
    why: RefusalCause,
    detail: string,
    { status = statusOf[why], code }: { status?: number; code?: string } = {},
  ) {
    super(detail);
    this.why = why;
    this.status = status;
    this.code = code ?? (status === 403 ? gated : undefined);
  }
}

const statusOf = {
  ...{ "not-served": 403, withheld: 403, unreadable: 403, "too-large": 403, "over-limit": 403 },
  ...{ "no-space": 507, "not-there": 404, upstream: 502 },
};

type RefusalCause = keyof typeof statusOf;

export function noSpace(): NotServed {
  return new NotServed("no-space", "the disk of the download cache is full");
}

/** Without a byte for this long, a server does not answer. */
const stallMs = 60_000;

type UpstreamRequest = Omit<HttpRequest, "stallMs" | "agent">;

/** The answer after all redirects. Throws `NotServed` for what is not there, does not answer or is too large. */
export function fetchUpstream(
  asked: URL,
  { bytesMax = 0, ...request }: UpstreamRequest & { bytesMax?: number },
): Promise<{ text: string; headers: IncomingHttpHeaders; url: URL }> {
  return orNotServed(asked, request.signal, async () => {
    const answer = await askUpstream(asked, request);
    if (answer.status >= 400) expectStatus(answer, []);
    const { headers, url } = answer;
    return { text: new TextDecoder().decode(await bytesOf(answer, bytesMax)), headers, url };
  });
}

export function askUpstream(
  url: URL,
  { headers, follow = () => true, ...request }: UpstreamRequest,
): Promise<HttpAnswer> {
  const named = { "user-agent": "mlrb-download-gateway", ...headers };
  return askHttp(url, { ...request, headers: named, follow, stallMs });
}

/** What goes wrong with the server becomes `NotServed`. The address of a server that it led to is not told. */
export async function orNotServed<T>(url: URL, signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NotServed) throw error;
    const { kind, message, seen } = troubleOf(error);
    if (kind === "wrong-bytes")
      throw new NotServed("too-large", "the answer is larger than announced, or than the gateway serves");
    if (seen.status === undefined)
      throw new NotServed("upstream", `${url.host} does not answer (${seen.code ?? message})`);
    throw refusal(seen.status, seen.headers);
  }
}

function refusal(answered: number, headers: IncomingHttpHeaders = {}): NotServed {
  const code = String(headers["x-error-code"] ?? "")
    .replace(/[^A-Za-z]/g, "")
    .slice(0, 40);
  const status = answered < 400 || answered >= 500 || answered === 429 ? 502 : answered;
  const detail = `the server answered ${answered}`;
  return new NotServed(status === 502 ? "upstream" : "not-there", detail, { status, ...(code && { code }) });
}
