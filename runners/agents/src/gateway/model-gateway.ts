// A model for programs that have neither a key nor a network: a server of the supervisor's that lets through the
// calls which the preset names, puts the real key in, counts what they cost and writes down what was said. Whoever
// speaks to it is hostile until proven otherwise: everything it may send has a size and a time.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelUsage, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { busyMs } from "../model/ask-model.ts";
import { boundUsage } from "../model/call-charge.ts";
import type { ProviderSilence } from "../model/provider-silence.ts";
import type { AttemptWaiting } from "../waiting/waiting.ts";
import { type AdmittedCall, admitCall } from "./admit-call.ts";
import { callProvider, shownHeaders } from "./call-provider.ts";
import { callWaits } from "./call-waits.ts";
import { type BookedCall, type CallDesk, gatewayCall, refuse, refuseOver } from "./gateway-call.ts";
import type { GatewayProvider } from "./gateway-provider.ts";
import { keptAnswers } from "./kept-answers.ts";
import { errorText } from "./pass-answer.ts";
import { providerError } from "./provider-error.ts";
import { rateLimitWait } from "./rate-limit-wait.ts";
import { requestRecorder } from "./request-recorder.ts";
import { type Route, routeRequest } from "./route-request.ts";

export type ModelGatewayOptions = {
  providers: GatewayProvider[];
  /** What the program has in place of a key: without it nobody is served. */
  token: string;
  meter: CallDesk["meter"];
  dollarsOf: CallDesk["dollarsOf"];
  write(event: TrajectoryEvent): void;
  /** Whether the attempt may reach a network anyway. */
  network: boolean;
  overBudget: CallDesk["overBudget"];
  ended: CallDesk["ended"];
  silence: ProviderSilence;
  /** The record or the ledger cannot be kept. */
  failed(error: unknown): void;
  /** For calls that a provider cannot take now; without it the program is told at once. */
  waiting?: AttemptWaiting;
};

export type ModelGateway = {
  /** To be made to listen by the caller. */
  server: Server;
  /** Ends every call, and gives no new one; the record is complete when it resolves. */
  close(): Promise<void>;
};

/** More would only be a way past the budget, which is looked at when a call begins. */
const openMax = 8;
const bodyMax = 32 << 20;
/** Of all bodies that are being read or sent. */
const bodiesMax = 128 << 20;

export function modelGateway(options: ModelGatewayOptions): ModelGateway {
  const over = new AbortController();
  const wait = rateLimitWait(options.meter);
  const calls = new Set<Promise<void>>();
  let number = 0;
  let held = 0;
  const desk: CallDesk = {
    ...options,
    recorder: requestRecorder(options),
    wait,
    next: () => ++number,
    open: () => calls.size,
    signal: over.signal,
    kept: keptAnswers(),
    ...(options.waiting && {
      waits: callWaits({ meter: options.meter, waiting: options.waiting, signal: over.signal }),
    }),
  };
  const server = createServer(
    {
      maxHeaderSize: 16 << 10,
      headersTimeout: 10_000,
      requestTimeout: 60_000,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 90_000, // longer than a program is frozen for a 429: it must not find its connection closed
      noDelay: true,
    },
    (request, response) => {
      serve(request, response).catch(options.failed);
    },
  );
  server.maxConnections = 128;
  for (const event of ["connect", "upgrade"]) server.on(event, (_, socket: Socket) => socket.destroy());
  server.on("clientError", (_, socket: Socket) => {
    if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    else socket.destroy();
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {}); // a program that went away
    request.on("error", () => {});
    const { method = "", url = "", headers } = request;
    const route = routeRequest({ method, url, headers }, options);
    if ("refused" in route) {
      const body = providerError(route.provider?.protocol ?? "openai", route.refused);
      response
        .writeHead(route.refused.status, { "content-type": "application/json", connection: "close" })
        .end(body);
      return;
    }
    if (over.signal.aborted) return refuse(response, route, 502, "the attempt is over");
    wait.asked();
    if (route.kind === "models") return models(response, route);
    const body = await bodyOf(request, response, route);
    if (body === undefined) return;
    try {
      const call = admitCall(route, body.text, options);
      if ("refused" in call) return refuse(response, route, call.refused.status, call.refused.detail);
      if (route.kind === "count") return await count(route, call.body, request, response);
      let booked = book(route, call, response);
      while (booked === "busy") {
        await Promise.race([...calls, sleep(busyMs, undefined, { ref: false })]);
        if (response.destroyed) return;
        booked = book(route, call, response);
      }
      if (booked === undefined) return;
      const calling = gatewayCall(desk, { route, call, headers, booked }, response);
      const known = calling.catch(() => {}).finally(() => calls.delete(known));
      calls.add(known);
      await calling;
    } finally {
      held -= body.bytes;
    }
  }

  /**
   * Admits a call while anything is left of the budget. `busy`: it could pass a limit beside the calls that go on,
   * and waits until one has ended: what that took is known then. Undefined where it was refused.
   */
  function book(route: Route, call: AdmittedCall, response: ServerResponse): BookedCall | "busy" | undefined {
    const { provider } = route;
    const priced = (usage: ModelUsage) =>
      provider.free ? 0 : options.dollarsOf(usage, provider.name, call.model);
    const most = priced(boundUsage(call.bound));
    const tokens = call.bound.inputTokens + call.bound.outputTokens;
    if (over.signal.aborted) return void refuse(response, route, 502, "the attempt is over");
    if (refuseOver(options, route, response)) return undefined;
    if (calls.size >= openMax) {
      response.setHeader("retry-after", "1");
      return void refuse(response, route, 429, `more than ${openMax} calls at once; wait for one to end`);
    }
    const release = options.meter.hold({ tokens, dollars: most });
    return release ? { bound: call.bound, priced, release } : "busy";
  }

  /** Undefined where it was refused. What it holds is given back by the caller. */
  async function bodyOf(request: IncomingMessage, response: ServerResponse, route: Route) {
    const { headers } = request;
    if ((headers["content-encoding"] ?? "identity") !== "identity")
      return void refuse(response, route, 400, "bodies are taken uncompressed only");
    const parts: Buffer[] = [];
    let bytes = 0;
    const tooLarge = (more: number) => bytes + more > bodyMax || held + more > bodiesMax;
    if (tooLarge(Number(headers["content-length"] ?? 0)))
      return void refuse(response, route, 413, `a body of more than ${bodyMax} bytes`);
    try {
      for await (const part of request as AsyncIterable<Buffer>) {
        if (tooLarge(part.length)) {
          held -= bytes;
          return void refuse(response, route, 413, `a body of more than ${bodyMax} bytes`);
        }
        parts.push(part);
        bytes += part.length;
        held += part.length;
      }
    } catch {
      held -= bytes; // it went away
      return void response.destroy();
    }
    return { text: Buffer.concat(parts).toString("utf8"), bytes };
  }

  /** Costs nothing at any provider that has it. */
  async function count(
    route: Route,
    body: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    try {
      const answer = await callProvider(
        route.provider,
        { path: route.path, body, headers: request.headers },
        AbortSignal.any([over.signal, AbortSignal.timeout(60_000)]),
      );
      const status = answer.statusCode ?? 502;
      const said = await errorText(answer, route.provider.key);
      if ([401, 402, 403].includes(status) || (status >= 300 && status < 400))
        return refuse(response, route, 502, "the provider would not count");
      response.writeHead(status, shownHeaders(answer.headers)).end(said);
    } catch {
      refuse(response, route, 502, "the provider cannot be reached");
    }
  }

  return {
    server,
    async close() {
      over.abort(new Error("the attempt is over"));
      wait.asked();
      await Promise.all(calls);
      server.close();
      server.closeAllConnections();
    },
  };
}

function models(response: ServerResponse, { provider }: Route): void {
  const ids = provider.ids.filter((id) => !id.endsWith("*"));
  const body =
    provider.protocol === "google"
      ? { models: ids.map((id) => ({ name: `models/${id}`, displayName: id })) }
      : provider.protocol === "anthropic"
        ? { data: ids.map((id) => ({ type: "model", id, display_name: id })), has_more: false }
        : {
            object: "list",
            data: ids.map((id) => ({ id, object: "model", created: 0, owned_by: provider.name })),
          };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}
