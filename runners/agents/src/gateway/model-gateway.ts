// A model for programs that have neither a key nor a network: a server of the supervisor that passes on the calls
// which the preset names, adds the real key, counts their cost and records them. Every program that connects
// counts as hostile: everything that it sends has a limit in size and time.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { CallCounts } from "../model/ask-model.ts";
import { busyMs } from "../model/ask-model.ts";
import { boundUsage } from "../spending/call-charge.ts";
import type { AttemptWaiting } from "../waiting/waiting.ts";
import { type AdmittedCall, admitCall } from "./admit-call.ts";
import { callProvider, shownHeaders } from "./call-provider.ts";
import { CallWaits } from "./call-waits.ts";
import { type BookedCall, type CallBooks, type CallDesk, GatewayCall } from "./gateway-call.ts";
import type { GatewayProtocol, GatewayProvider } from "./gateway-provider.ts";
import { guardedServer } from "./guarded-server.ts";
import { keptAnswers } from "./kept-answers.ts";
import { errorText } from "./pass-answer.ts";
import { refuse, refuseOver } from "./provider-error.ts";
import { rateLimitWait } from "./rate-limit-wait.ts";
import { RequestBodies } from "./request-bodies.ts";
import { RequestRecorder } from "./request-recorder.ts";
import { type Route, routeRequest } from "./route-request.ts";
import { servedPrice } from "./served-price.ts";

export type ModelGatewayOptions = CallBooks & {
  providers: GatewayProvider[];
  /** The program's key for this gateway. */
  token: string;
  /** Of the whole attempt, also before a restart and of other members of a team. */
  counts?: CallCounts;
  /** The record or the ledger cannot be written. */
  failed(error: unknown): void;
  /** For calls that a provider cannot take now; without it the program gets the failure at once. */
  waiting?: AttemptWaiting;
};

/** Calls open at once: more would only be a way past the budget, which is checked when a call begins. */
const openMax = 8;

export class ModelGateway {
  /** The caller makes it listen. */
  readonly server: Server;
  readonly #options: ModelGatewayOptions;
  readonly #desk: CallDesk;
  readonly #bodies = new RequestBodies();
  readonly #calls = new Set<Promise<void>>();
  readonly #over = new AbortController();

  constructor(options: ModelGatewayOptions) {
    this.#options = options;
    const { meter, waiting, counts = { calls: 0, answered: 0 } } = options;
    const { signal } = this.#over;
    this.#desk = {
      ...options,
      recorder: new RequestRecorder(options),
      wait: rateLimitWait(meter),
      next: () => ++counts.calls,
      open: () => this.#calls.size,
      signal,
      kept: keptAnswers(),
      ...(waiting && {
        waits: new CallWaits({ meter, waiting, signal, answeredBefore: counts.answered > 0 }),
      }),
    };
    this.server = guardedServer((...exchange) => this.#serve(...exchange), options.failed);
  }

  /** Ends every call and answers no new one. The record is complete when it resolves. */
  async close(): Promise<void> {
    this.#over.abort(new Error("the attempt is over"));
    this.#desk.wait.asked();
    await Promise.all(this.#calls);
    this.server.close();
    this.server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    const route = routeRequest({ method, url, headers }, this.#options);
    if ("refused" in route) {
      response.shouldKeepAlive = false;
      const { provider = { protocol: "openai" as const }, refused } = route;
      return refuse(response, { provider }, refused.status, refused.detail);
    }
    if (this.#over.signal.aborted) return refuse(response, route, 502, "the attempt is over");
    this.#desk.wait.asked();
    if (route.kind === "models") return sendModels(response, route);
    const body = await this.#bodies.read(request);
    if (body === "gone") return void response.destroy();
    if ("refused" in body) return refuse(response, route, body.refused.status, body.refused.detail);
    try {
      const call = admitCall(route, { bytes: body.bytes, headers }, this.#options);
      if ("refused" in call) return refuse(response, route, call.refused.status, call.refused.detail);
      if (route.kind === "count") return await this.#count(route, call, response);
      const booked = await this.#booked(route, call, response);
      if (!booked) return;
      const calling = new GatewayCall(this.#desk, { route, call, booked }, response).run();
      const known = calling.catch(() => {}).finally(() => this.#calls.delete(known));
      this.#calls.add(known);
      await calling;
    } finally {
      body.release();
    }
  }

  /**
   * Admits a call while anything is left of the budget. It waits while, together with the open calls, it could
   * pass a limit: once one of those has ended, its cost is known. Undefined if the call was refused or the program
   * went away.
   */
  async #booked(route: Route, call: AdmittedCall, response: ServerResponse): Promise<BookedCall | undefined> {
    const { provider } = route;
    const { prices, meter } = this.#options;
    const { bound } = call;
    for (;;) {
      await this.#desk.waits?.unpaused();
      if (this.#over.signal.aborted) return void refuse(response, route, 502, "the attempt is over");
      if (refuseOver(this.#options, route, response)) return undefined;
      if (this.#calls.size >= openMax) {
        response.setHeader("retry-after", "1");
        return void refuse(response, route, 429, `more than ${openMax} calls at once; wait for one to end`);
      }
      const dollars = servedPrice({ provider, model: call.model }, prices).priced(boundUsage(bound));
      const held = meter.hold({ tokens: bound.inputTokens + bound.outputTokens, dollars });
      if (held) return { bound, held };
      await Promise.race([...this.#calls, sleep(busyMs, undefined, { ref: false })]);
      if (response.destroyed) return undefined;
    }
  }

  /** Counting tokens is free at every provider that offers it. */
  async #count(route: Route, { body, headers }: AdmittedCall, response: ServerResponse): Promise<void> {
    try {
      const answer = await callProvider(
        route.provider,
        { path: route.path, body, headers },
        AbortSignal.any([this.#over.signal, AbortSignal.timeout(60_000)]),
      );
      const status = answer.statusCode ?? 502;
      const text = await errorText(answer, route.provider.key);
      if ([401, 402, 403].includes(status) || (status >= 300 && status < 400))
        return refuse(response, route, 502, "the provider would not count");
      response.writeHead(status, shownHeaders(answer.headers)).end(text);
    } catch {
      refuse(response, route, 502, "the provider cannot be reached");
    }
  }
}

function sendModels(response: ServerResponse, { provider: { protocol, name, ids } }: Route): void {
  const list = modelLists[protocol](
    ids.filter((id) => !id.endsWith("*")),
    name,
  );
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(list));
}

const modelLists: Record<GatewayProtocol, (ids: string[], owner: string) => object> = {
  google: (ids) => ({ models: ids.map((id) => ({ name: `models/${id}`, displayName: id })) }),
  anthropic: (ids) => ({
    ...{ data: ids.map((id) => ({ type: "model", id, display_name: id })), has_more: false },
  }),
  openai: (ids, owner) => ({
    ...{ object: "list", data: ids.map((id) => ({ id, object: "model", created: 0, owned_by: owner })) },
  }),
};
