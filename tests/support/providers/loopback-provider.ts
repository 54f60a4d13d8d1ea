// A model provider on 127.0.0.1 that plays a test's script in the protocols of OpenAI (two), Azure, Anthropic,
// Google and Bedrock, with the faults of providers and networks. It tests mlrb against the documented protocols;
// only a call to the real provider can show that the documents are right.
//
// As a program: `node tests/support/providers/loopback-provider.ts SCRIPT [LOG]`, SCRIPT a JSON list of replies or
// a module whose default export is a list or a function. It prints its URL, and appends each request to LOG.
import { appendFileSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { anthropic } from "./loopback-anthropic.ts";
import { bedrock } from "./loopback-bedrock.ts";
import { google } from "./loopback-google.ts";
import { openaiChat } from "./loopback-openai-chat.ts";
import { azureResponses, openaiResponses } from "./loopback-openai-responses.ts";
import {
  type Answer,
  type Complaint,
  complete,
  type Fault,
  isFault,
  type Protocol,
  type Reply,
  type SeenRequest,
} from "./loopback-reply.ts";

export type { Answer, Fault, Reply, SeenRequest } from "./loopback-reply.ts";

export type Script = Reply[] | ((request: SeenRequest, index: number) => Reply | Promise<Reply>);

export type LoopbackProvider = {
  /** Without `/v1`. */
  url: string;
  /** AI SDK's base URL for OpenAI and Anthropic: with `/v1`. */
  baseUrl: string;
  key: string;
  /** Requests with the right key, in order of arrival. */
  seen: SeenRequest[];
  /** Requests that were answered 401. */
  turnedAway(): number;
  /** Requests that the client aborted before the answer's end. */
  abandoned(): number;
  close(): Promise<void>;
};

/** The default key. */
export const LOOPBACK_KEY = "loopback-key-5f3a";

const PROTOCOLS: Protocol[] = [openaiChat, openaiResponses, azureResponses(), anthropic, google, bedrock];

/** After the last reply of a list, requests get a bad request, so that a too short script is noticed. */
export async function startLoopbackProvider(options: {
  script: Script;
  /** The only accepted key; null accepts any key, and none. */
  key?: string | null;
  onRequest?: (request: SeenRequest) => void;
}): Promise<LoopbackProvider> {
  const key = options.key === undefined ? LOOPBACK_KEY : options.key;
  const seen: SeenRequest[] = [];
  let turnedAway = 0;
  let abandoned = 0;
  const server = createServer((request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) abandoned += 1;
    });
    answer(request, response).catch((error) => {
      if (response.headersSent || response.destroyed) return void response.destroy();
      response.writeHead(500, { "content-type": "text/plain" }).end(`the script threw: ${error.stack}`);
    });
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const path = new URL(request.url ?? "/", "http://loopback").pathname;
    const protocol = PROTOCOLS.find((one) =>
      typeof one.path === "string" ? one.path === path : one.path.test(path),
    );
    const given = (protocol ?? openaiChat).keyOf(headers);
    if (key !== null && given !== key) {
      turnedAway += 1;
      request.resume();
      return complain(response, { protocol: protocol ?? openaiChat, complaint: "wrong-key", model: "" });
    }
    if (path === "/v1/models")
      return send(response, { object: "list", data: [{ id: "loopback", object: "model" }] });
    if (protocol === undefined || request.method !== "POST")
      return void response.writeHead(404, { "content-type": "text/plain" }).end("there is nothing here");
    const text = await whole(request);
    const body = JSON.parse(text) as Record<string, unknown>;
    const heard: SeenRequest = {
      index: seen.length,
      protocol: protocol.name,
      ...modelAndStream(protocol, path, body),
      headers,
      body,
      ...protocol.read(body),
    };
    seen.push(heard);
    options.onRequest?.(heard);
    const reply = Array.isArray(options.script)
      ? options.script[heard.index]
      : await options.script(heard, heard.index);
    response.setHeader(protocol.requestIdHeader, `req_loopback_${heard.index}`);
    if (reply === undefined)
      return send(
        response,
        { error: { type: "invalid_request_error", message: `the script has no reply ${heard.index}` } },
        400,
      );
    if (isFault(reply)) return fail(response, reply, { protocol, model: heard.model });
    await say(response, reply, { protocol, heard, text });
  };
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    baseUrl: `${url}/v1`,
    key: key ?? "",
    seen,
    turnedAway: () => turnedAway,
    abandoned: () => abandoned,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}

function modelAndStream({ path: pattern }: Protocol, path: string, body: Record<string, unknown>) {
  const [, model, method = ""] = typeof pattern === "string" ? [] : (pattern.exec(path) ?? []);
  if (model === undefined) return { model: String(body.model), stream: body.stream === true };
  return { model: decodeURIComponent(model), stream: /^stream|-stream$/u.test(method) };
}

async function whole(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function complain(
  response: ServerResponse,
  { protocol, complaint, model }: { protocol: Protocol; complaint: Complaint; model: string },
): void {
  const { status, body } = protocol.complain(complaint, model);
  send(response, body, status);
}

function fail(
  response: ServerResponse,
  fault: Fault,
  { protocol, model }: { protocol: Protocol; model: string },
): void {
  if ("hang" in fault) return;
  if ("reset" in fault) return void response.socket?.resetAndDestroy();
  if ("garbage" in fault)
    return void response
      .writeHead(200, { "content-type": "text/html" })
      .end("<!doctype html><title>Sign in</title><p>Please sign in to the hotel's network.");
  if (fault.retryAfterMs !== undefined) {
    response.setHeader("retry-after", String(Math.ceil(fault.retryAfterMs / 1000)));
    response.setHeader("retry-after-ms", String(fault.retryAfterMs));
  }
  for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
  if (fault.body !== undefined) {
    const [first = "", ...rest] = inParts(fault.body);
    response.writeHead(fault.status, { "content-type": "application/json" }).write(first);
    return void setTimeout(() => response.end(rest.join("")), 20);
  }
  send(response, protocol.complain(fault.complaint ?? usual(fault.status), model).body, fault.status);
}

function usual(status: number): Complaint {
  const known: Record<number, Complaint> = {
    400: "bad-request",
    401: "wrong-key",
    403: "forbidden",
    404: "unknown-model",
    413: "too-long",
    429: "rate-limit",
    503: "overloaded",
    529: "overloaded",
  };
  return known[status] ?? "server-error";
}

async function say(
  response: ServerResponse,
  reply: Answer,
  { protocol, heard, text }: { protocol: Protocol; heard: SeenRequest; text: string },
): Promise<void> {
  const answer = complete(reply, { index: heard.index, model: heard.model, request: text });
  if (!heard.stream && reply.complaint !== undefined)
    return complain(response, { protocol, complaint: reply.complaint, model: heard.model });
  let events = heard.stream ? protocol.events(answer) : [];
  if (reply.complaint !== undefined)
    events = [...events.slice(0, 3), protocol.complainLate(reply.complaint, heard.model)];
  const { frame } = protocol;
  // frames are kept as characters of one byte each
  const encoded = frame ? (one: (typeof events)[number]) => frame.encode(one).toString("latin1") : asEvent;
  const body = heard.stream ? events.map(encoded).join("") : JSON.stringify(protocol.body(answer));
  const streamType = frame?.type ?? "text/event-stream";
  response.writeHead(200, { "content-type": heard.stream ? streamType : "application/json" });
  const end = reply.cut ?? reply.truncate ?? reply.stall;
  const parts = inParts(end === undefined ? body : body.slice(0, end), reply.slow?.characters);
  for (const part of parts) {
    if (response.destroyed) return;
    if (!response.write(part, frame ? "latin1" : "utf8")) await drained(response);
    if (reply.slow) await sleep(reply.slow.pauseMs);
  }
  if (reply.stall !== undefined) return;
  // Written data must be sent before the connection closes; otherwise the client sees a reset before any answer.
  if (reply.cut !== undefined) return void setTimeout(() => response.destroy(), 20);
  response.end();
}

function asEvent({ event, data }: { event?: string; data: unknown }): string {
  const line = `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
  return event === undefined ? line : `event: ${event}\n${line}`;
}

function inParts(body: string, characters = 16_384): string[] {
  const parts: string[] = [];
  for (let at = 0; at < body.length; at += characters) parts.push(body.slice(at, at + characters));
  return parts;
}

/** Also resolves on close, after which nothing drains. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((done) => {
    const over = () => {
      response.off("drain", over).off("close", over);
      done();
    };
    response.on("drain", over).on("close", over);
  });
}

async function asProgram([scriptPath, log]: string[]): Promise<void> {
  if (scriptPath === undefined) throw new Error("usage: loopback-provider.ts SCRIPT [LOG]");
  const path = resolve(scriptPath);
  const script: Script = path.endsWith(".json")
    ? JSON.parse(readFileSync(path, "utf8"))
    : (await import(pathToFileURL(path).href)).default;
  const provider = await startLoopbackProvider({
    script,
    onRequest: (request) => {
      if (log !== undefined) appendFileSync(log, `${JSON.stringify(request)}\n`);
    },
  });
  process.stdout.write(`${provider.url}\n`);
}

if (import.meta.main) await asProgram(process.argv.slice(2));
