// Requests of the supervisor to hubs, package indexes and code hosts. It follows redirects itself, so an agent never
// learns where a file lies, and cannot be sent anywhere.

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
    { status = 403, code = status === 403 ? gated : undefined }: { status?: number; code?: string } = {},
  ) {
    super(detail);
    this.why = why;
    this.status = status;
    this.code = code;
  }
}

export type RefusalCause =
  | "not-served"
  | "withheld"
  | "unreadable"
  | "too-large"
  | "over-limit"
  | "no-space"
  | "not-there"
  | "upstream";

export function noSpace(): NotServed {
  return new NotServed("no-space", "the disk of the download cache is full", { status: 507 });
}

const redirectsMax = 5;
const headersMs = 60_000;

export type UpstreamRequest = {
  method?: "GET" | "HEAD" | "POST";
  headers?: Record<string, string>;
  body?: string;
  /** Stops before a redirect for which it is true, and returns that answer. */
  stopAt?(answer: Response): boolean;
  signal: AbortSignal;
};

/** The answer after all redirects. Throws `NotServed` for what is not there or does not answer. */
export async function fetchUpstream(
  url: URL,
  request: UpstreamRequest,
): Promise<{ answer: Response; url: URL }> {
  const { method = "GET", headers = {}, body, stopAt, signal } = request;
  let at = url;
  for (let hops = 0; hops <= redirectsMax; hops++) {
    const answer = await askOnce(at, { method, headers, body, signal });
    const location = answer.headers.get("location");
    const redirects = answer.status >= 300 && answer.status < 400 && location !== null;
    if (!redirects || stopAt?.(answer)) return { answer: await checked(answer), url: at };
    await answer.body?.cancel();
    const next = URL.parse(location, at);
    if (!next || !mayFollow(url, next))
      throw new NotServed("upstream", `${url.host} redirects to an address that is not followed`, {
        status: 502,
      });
    at = next;
  }
  throw new NotServed("upstream", `${url.host} redirects more than ${redirectsMax} times`, { status: 502 });
}

/** A secure server leads to secure servers only; one without, as in tests, to itself. */
function mayFollow(from: URL, to: URL): boolean {
  if (to.username !== "" || to.password !== "") return false;
  return from.protocol === "https:" ? to.protocol === "https:" : to.origin === from.origin;
}

async function askOnce(
  url: URL,
  {
    signal,
    body,
    ...request
  }: { method: string; headers: Record<string, string>; body: string | undefined; signal: AbortSignal },
): Promise<Response> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), headersMs);
  try {
    return await fetch(url, {
      ...request,
      ...(body !== undefined && { body }),
      // a compressed answer would have another length and digest than the file
      headers: { "accept-encoding": "identity", "user-agent": "mlrb-download-gateway", ...request.headers },
      redirect: "manual",
      signal: AbortSignal.any([signal, silent.signal]),
    });
  } catch (error) {
    signal.throwIfAborted();
    const cause = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).name;
    throw new NotServed("upstream", `${url.host} does not answer (${cause})`, { status: 502 });
  } finally {
    clearTimeout(timer);
  }
}

async function checked(answer: Response): Promise<Response> {
  if (answer.status < 400) return answer;
  await answer.body?.cancel();
  const code = answer.headers
    .get("x-error-code")
    ?.replace(/[^A-Za-z]/g, "")
    .slice(0, 40);
  const status = answer.status >= 500 || answer.status === 429 ? 502 : answer.status;
  const detail = `the server answered ${answer.status}`;
  throw new NotServed(status === 502 ? "upstream" : "not-there", detail, { status, ...(code && { code }) });
}

/** A text of at most `bytesMax` bytes. */
export async function boundedText(answer: Response, bytesMax: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.length;
    if (bytes > bytesMax)
      throw new NotServed("too-large", `an answer of more than ${bytesMax} bytes`, { status: 502 });
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}
