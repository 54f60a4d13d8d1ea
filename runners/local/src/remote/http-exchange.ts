// One request to an HTTP server that is not believed: a redirect is not followed (it could send the token elsewhere), and
// every silence has a limit.

import { createReadStream } from "node:fs";
import {
  type ClientRequest,
  type Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { type Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { RemoteTrouble } from "./remote-trouble.ts";

export type RemoteAddress = { url: URL; token: string | undefined };

export type RequestBody = { bytes: Buffer; type: string } | { file: string; size: number };

export type HttpRequest = {
  method: "GET" | "HEAD" | "PUT";
  path: string;
  headers?: Record<string, string>;
  body?: RequestBody;
  signal: AbortSignal;
};

/** An answer with headers; its body is read, or ended by `discard`. */
export type HttpAnswer = { status: number; message: IncomingMessage; refresh: () => void };

export type Connection = {
  address: RemoteAddress;
  agent: HttpAgent | HttpsAgent;
  /** Without a byte for this long, a request has failed. */
  stallMs: number;
};

/** How fast a slow server stores what it has received whole: 10 MB/s. */
const storedBytesPerMs = 10_000;

/** Resolves once the headers are there. */
export function httpExchange(
  { method, path, headers = {}, body, signal }: HttpRequest,
  { address: { url, token }, agent, stallMs }: Connection,
): Promise<HttpAnswer> {
  const at = new URL(url);
  at.pathname = `${url.pathname.replace(/\/+$/, "")}/${path}`; // two slashes at its beginning would name another host
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const send = at.protocol === "https:" ? httpsRequest : httpRequest;
  const size = body && ("file" in body ? body.size : body.bytes.length);
  const request = send(at, {
    method,
    agent,
    signal,
    headers: {
      "user-agent": "mlrb",
      // a compressed body would have another length
      "accept-encoding": "identity",
      ...(token !== undefined && {
        authorization: /^(Basic|Bearer) /.test(token) ? token : `Bearer ${token}`,
      }),
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
      const trouble = new RemoteTrouble("silent", `it sent nothing for ${Math.round(ms / 1000)} s`);
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
    reject(new RemoteTrouble("failing", "it ended the connection without an answer")); // if there was none
  });
  request.once("upgrade", (_, socket) => socket.destroy());
  request.on("error", (error) => reject(error));
  request.once("response", (message) => {
    timer.refresh();
    answered = message.on("error", () => {}); // a reader of the body gets the error too
    resolve({ status: message.statusCode ?? 0, message, refresh: () => timer.refresh() });
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
    if (!message.complete) throw new RemoteTrouble("failing", "the connection broke");
  } finally {
    if (!message.complete) message.destroy();
  }
}

/** Ends an answer whose body says nothing. A short body is read, so that the connection can be used again. */
export function discard({ message }: HttpAnswer): void {
  const short = Number(message.headers["content-length"] ?? 0) <= 1 << 16;
  if (short) message.resume();
  else message.destroy();
}

export function isAbsent(answer: HttpAnswer): boolean {
  const absent = answer.status === 404 || answer.status === 410;
  if (absent) discard(answer);
  return absent;
}

/** Throws for an answer that is no success, and ends its connection: the rest of a body may still be on its way. */
export function expectStatus({ status, message }: HttpAnswer, expected: number[], method: string): void {
  if (expected.includes(status)) return;
  message.destroy();
  const said = `it answered ${status} to ${method}`;
  if (status === 413 || status === 507) throw new RemoteTrouble("full", said);
  const isFailure = status >= 500 || status === 408 || status === 429 || (status >= 200 && status < 300);
  throw new RemoteTrouble(isFailure ? "failing" : "refused", said);
}
