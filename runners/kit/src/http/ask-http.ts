// Requests to HTTP servers that are not believed: every silence has a limit, and a redirect is followed only where
// the caller says so, to no less safe a server, and without the key.
import { createReadStream } from "node:fs";
import {
  type ClientRequest,
  type Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import { type Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { HttpTrouble } from "./http-trouble.ts";

export type RequestBody = { bytes: Buffer; type: string } | { file: string; size: number };

export type HttpRequest = {
  method?: "GET" | "HEAD" | "POST" | "PUT";
  headers?: Record<string, string>;
  body?: RequestBody;
  signal: AbortSignal;
  /** Without a byte for this long, a request has failed. */
  stallMs: number;
  /** Absent: that of the process, which asks the proxies of its environment. */
  agent?: HttpAgent | HttpsAgent;
  /** Whether the redirect that this answer is may be followed; absent: none may. */
  follow?: (answer: HttpAnswer) => boolean;
  /** Whether a server without encryption may lead to another one. */
  leaves?: boolean;
};

/** An answer with headers; its body is read, or ended by `discard`. */
export type HttpAnswer = {
  /** After redirects. */
  url: URL;
  method: string;
  status: number;
  headers: IncomingHttpHeaders;
  message: IncomingMessage;
  refresh: () => void;
};

/** How fast a slow server stores what it has received whole: 10 MB/s. */
const storedBytesPerMs = 10_000;
const redirectsMax = 5;

/** Resolves once the headers are there, whatever the status is. */
export async function askHttp(first: URL, request: HttpRequest): Promise<HttpAnswer> {
  let url = first;
  let { headers = {} } = request;
  for (let hops = 0; hops <= redirectsMax; hops++) {
    const answer = await askOnce(url, { ...request, headers });
    const { location } = answer.headers;
    const redirects = answer.status >= 300 && answer.status < 400 && location !== undefined;
    if (!redirects || !request.follow?.(answer)) return answer;
    discard(answer);
    const next = URL.parse(location, url);
    if (!next || !mayFollow(first, next, request.leaves))
      throw new HttpTrouble("refused", "it redirects to an address that is not followed");
    if (next.origin !== first.origin)
      headers = Object.fromEntries(
        Object.entries(headers).filter(([name]) => !/^(authorization|cookie)$/i.test(name)),
      );
    url = next;
  }
  throw new HttpTrouble("refused", `it redirects more than ${redirectsMax} times`);
}

/** A secure server leads to secure servers only. */
function mayFollow(from: URL, to: URL, leaves = false): boolean {
  if (to.username !== "" || to.password !== "") return false;
  return from.protocol === "https:" ? to.protocol === "https:" : leaves || to.origin === from.origin;
}

function askOnce(
  url: URL,
  { method = "GET", headers, body, signal, stallMs, agent }: HttpRequest,
): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const size = body && ("file" in body ? body.size : body.bytes.length);
  const request = send(url, {
    method,
    ...(agent && { agent }),
    signal,
    headers: {
      "user-agent": "mlrb",
      // a compressed body would have another length and digest
      "accept-encoding": "identity",
      ...(body && {
        "content-type": "type" in body ? body.type : "application/octet-stream",
        "content-length": String(size),
      }),
      ...headers,
    },
  });
  let answered: IncomingMessage | undefined;
  const silentFor = (ms: number) =>
    setTimeout(() => {
      const trouble = new HttpTrouble("silent", `it sent nothing for ${Math.round(ms / 1000)} s`);
      (answered ?? request).destroy(trouble);
    }, ms).unref();
  let timer = silentFor(stallMs);
  // it may copy the whole body before it answers
  const sent = () => {
    clearTimeout(timer);
    timer = silentFor(3 * stallMs + (size ?? 0) / storedBytesPerMs);
  };
  request.once("close", () => {
    clearTimeout(timer);
    reject(new HttpTrouble("failing", "it ended the connection without an answer")); // if there was none
  });
  request.once("upgrade", (_, socket) => socket.destroy());
  request.on("error", (error) => reject(error));
  request.once("response", (message) => {
    timer.refresh();
    answered = message.on("error", () => {}); // a reader of the body gets the error too
    const { statusCode: status = 0, headers } = message;
    resolve({ url, method, status, headers, message, refresh: () => timer.refresh() });
  });
  writeBody(request, body, { progress: () => timer.refresh(), sent });
  return promise;
}

/** `progress` is called as the server takes the body, and `sent` at its end. */
function writeBody(
  request: ClientRequest,
  body: RequestBody | undefined,
  { progress, sent }: { progress: () => void; sent: () => void },
): void {
  if (!body) {
    request.end();
    return;
  }
  const source = "file" in body ? createReadStream(body.file) : Readable.from(slices(body.bytes));
  source.on("data", progress);
  request.once("finish", sent);
  source.on("error", (error) => request.destroy(error));
  request.once("close", () => source.destroy());
  source.pipe(request);
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1 << 16) yield bytes.subarray(at, at + (1 << 16));
}

export async function* bodyOf({ message, refresh }: HttpAnswer): AsyncGenerator<Buffer> {
  try {
    for await (const part of message) {
      refresh();
      yield part as Buffer;
    }
    if (!message.complete) throw new HttpTrouble("failing", "the connection broke");
  } finally {
    if (!message.complete) message.destroy();
  }
}

/** The whole body, of at most `bytesMax` bytes. */
export async function bytesOf(answer: HttpAnswer, bytesMax: number): Promise<Buffer<ArrayBuffer>> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of bodyOf(answer)) {
    bytes += part.length;
    if (bytes > bytesMax) throw tooLong(bytesMax);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

export function tooLong(bytesMax: number): HttpTrouble {
  return new HttpTrouble(
    "wrong-bytes",
    `the answer has more than ${bytesMax} bytes, and was not read further`,
  );
}

/** Ends an answer whose body says nothing. A short body is read, so that the connection can be used again. */
export function discard({ message, headers }: HttpAnswer): void {
  const short = Number(headers["content-length"] ?? 0) <= 1 << 16;
  if (short) message.resume();
  else message.destroy();
}

export function isAbsent(answer: HttpAnswer): boolean {
  const absent = answer.status === 404 || answer.status === 410;
  if (absent) discard(answer);
  return absent;
}

/** Throws for an answer that is no success, and ends its connection: the rest of a body may still be on its way. */
export function expectStatus({ method, status, message, headers }: HttpAnswer, expected: number[]): void {
  if (expected.includes(status)) return;
  message.destroy();
  const said = `it answered ${status} to ${method}`;
  const isFailure = status >= 500 || status === 408 || status === 429 || (status >= 200 && status < 300);
  const kind = status === 413 || status === 507 ? "full" : isFailure ? "failing" : "refused";
  throw new HttpTrouble(kind, said, { status, headers });
}
