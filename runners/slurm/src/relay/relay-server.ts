// The relay of model calls on the host that submits: forwards what comes from a node's channel to the configured
// addresses of providers only, and adds the secret of each address. Secrets stay in this process's memory.
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { type Duplex, Transform, type TransformCallback } from "node:stream";
import { Redactor, textRedactor } from "@mlrb/core/ports/redactor";
import { placeholderOf, type RelayRoute, relayErrorHeader } from "@mlrb/core/ports/relay";
import { decoded } from "./decoded.ts";
import { answerMs, takeStreams } from "./streams.ts";

export type RelayOptions = {
  /** The attempt's name, from which the placeholders come. */
  attempt: string;
  routes: RelayRoute[];
  /** Values by name. */
  secrets: Record<string, string>;
  /** The address to call for one below a route. May throw: the callee is then away. */
  locate?: (url: URL) => URL;
  requestBytesMax?: number;
  /** Of an answer that came compressed. */
  plainBytesMax?: number;
};

const requestBytesMax = 64 * 2 ** 20;
const callsMax = 64;

/** Codes of failures, by which the node's side chooses a cause of the table (`cause-of.ts`). */
const codes = { unsendableSecret: "invalid_api_key", unreadableAnswer: "MLRB_NO_STREAM" };

/** Headers of one connection, which are not passed on. */
const ofConnection =
  /^(connection|keep-alive|host|te|trailer|transfer-encoding|upgrade|expect|proxy-.*|x-mlrb-.*)$/;

export class RelayServer {
  readonly #options: RelayOptions;
  readonly #server: Server;
  #secrets: Record<string, string>;
  /** Every value that each secret has had: an answer may quote the value of an earlier call. */
  readonly #values: Record<string, string[]> = {};

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#secrets = {};
    this.take(options.secrets);
    this.#server = createServer((asked, answer) => this.#forward(asked, answer));
  }

  /** New values of secrets, for the calls from now on. */
  take(secrets: Record<string, string>): void {
    this.#secrets = { ...this.#secrets, ...secrets };
    for (const [name, value] of Object.entries(secrets))
      this.#values[name] = [...new Set([...(this.#values[name] ?? []), value])];
  }

  /** Serves calls from one channel until it ends; each call is a stream of its own. */
  async serve(channel: Duplex): Promise<void> {
    const take = (stream: Duplex) => void this.#server.emit("connection", stream);
    await takeStreams(channel, { most: callsMax, answerMs, take });
  }

  #forward(asked: IncomingMessage, answer: ServerResponse): void {
    asked.on("error", () => {});
    answer.on("error", () => {});
    let url = URL.canParse(asked.url ?? "") ? new URL(asked.url!) : undefined;
    const route = url && routeOf(url, this.#options.routes, this.#namedIn(asked.headers));
    if (!url || !route) {
      refuse(answer, 403, "the relay forwards only to the models of the agent's preset");
      return;
    }
    const most = this.#options.requestBytesMax ?? requestBytesMax;
    if (Number(asked.headers["content-length"] ?? 0) > most) {
      asked.resume();
      refuse(answer, 413, `a request of more than ${most} bytes`);
      return;
    }
    try {
      url = this.#options.locate?.(url) ?? url;
    } catch (error) {
      asked.resume();
      // one without a code, e.g. of a list that cannot be read, is no lost connection, for which an attempt would
      // wait
      const { code = "EINVAL" } = error as NodeJS.ErrnoException;
      this.#failed(answer, Object.assign(error as Error, { code }));
      return;
    }
    try {
      this.#send(asked, answer, { url, route, most });
    } catch (error) {
      asked.resume();
      this.#failed(answer, sendTrouble(error as NodeJS.ErrnoException, route));
    }
  }

  #send(
    asked: IncomingMessage,
    answer: ServerResponse,
    { url, route, most }: { url: URL; route: RelayRoute; most: number },
  ): void {
    const headers = {
      ...mapped(passed(asked.headers), this.#fill(route)),
      "accept-encoding": "identity",
    };
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const sent = send(url, { method: asked.method, headers });
    bounded(asked, most, () => sent.destroy());
    asked.pipe(sent);
    answer.on("close", () => sent.destroy()); // the node has ended the call, or the channel broke
    sent.on("error", (error) => this.#failed(answer, error));
    sent.on("response", (from) => this.#pass(from, answer));
    sent.on("upgrade", ({ statusCode }, socket) => {
      socket.destroy();
      this.#failed(answer, unreadable(new Error(`its status is ${statusCode}`)));
    });
  }

  /** As it comes, without a secret that the provider may quote. */
  #pass(from: IncomingMessage, to: ServerResponse): void {
    const { "content-length": _, "content-encoding": __, ...headers } = passed(from.headers);
    // the end of `to` ends `from`
    const broke = (error: Error) => {
      // what a failed call was refused for is in its status
      if ((from.statusCode ?? 0) >= 400 && !to.headersSent) {
        begin();
        to.end();
      } else this.#failed(to, unreadable(error));
    };
    from.on("error", () => to.destroy());
    from.on("aborted", () => to.destroy()); // cut: the node must not take it for whole
    const begin = () => {
      if (to.headersSent) return;
      to.writeHead(from.statusCode ?? 502, mapped(headers, textRedactor(this.#values)));
      to.flushHeaders();
    };
    const redactor = new Redactor(this.#values);
    const clean = (done: TransformCallback, bytes: () => Buffer) => {
      try {
        begin();
      } catch (error) {
        return done(error as Error);
      }
      done(null, bytes());
    };
    const cleaned = new Transform({
      transform: (part: Buffer, _encoding, done) => clean(done, () => redactor.push(part)),
      flush: (done) => clean(done, () => redactor.end()),
    });
    try {
      const plain = decoded(from, { most: this.#options.plainBytesMax, broke });
      if (plain === from) begin(); // another one may still turn out not to be compressed as it says
      plain.pipe(cleaned.on("error", broke)).pipe(to);
    } catch (error) {
      broke(error as Error);
    }
  }

  #failed(answer: ServerResponse, error: NodeJS.ErrnoException): void {
    if (answer.headersSent) {
      answer.destroy();
      return;
    }
    const words = textRedactor(this.#values)(error.message);
    answer.writeHead(502, {
      [relayErrorHeader]: error.code ?? "ECONNRESET",
      [`${relayErrorHeader}-detail`]: encodeURIComponent(words.slice(0, 500).toWellFormed()),
    });
    answer.end();
  }

  /** Puts the secret of the route, and no other, in the place of its placeholder. */
  #fill({ secret }: RelayRoute): (text: string) => string {
    const value = secret === undefined ? undefined : this.#secrets[secret];
    if (value === undefined) return (text) => text;
    const placeholder = placeholderOf(this.#options.attempt, secret!);
    // ends as fetch normalizes a header: a file of one line gives a value with a line break
    return (text) => text.replaceAll(placeholder, () => value.replace(/[\t\n\r ]+$/, ""));
  }

  /** Whether a header holds the placeholder of the route's secret. */
  #namedIn(headers: IncomingHttpHeaders): (route: RelayRoute) => boolean {
    const all = Object.values(headers).flat().join("\n");
    return ({ secret }) => secret !== undefined && all.includes(placeholderOf(this.#options.attempt, secret));
  }
}

/** The route whose address is the beginning of `url`, by whole parts of the path; the longest, and of several such the named one. */
export function routeOf(
  url: URL,
  routes: RelayRoute[],
  isNamed: (route: RelayRoute) => boolean = () => false,
): RelayRoute | undefined {
  if (url.username !== "" || url.password !== "") return undefined;
  // `%2e%2e`, `%2f` and backslashes: a provider may read them as parts of a path
  if (/%2e|%2f|%5c|\\/i.test(url.pathname)) return undefined;
  const fits = routes.flatMap((route) => {
    const { origin, pathname } = new URL(route.address);
    const begin = pathname.replace(/\/+$/, "");
    const isWithin = url.pathname === begin || url.pathname.startsWith(`${begin}/`);
    return url.origin === origin && isWithin ? [{ route, length: begin.length }] : [];
  });
  const most = Math.max(...fits.map(({ length }) => length));
  const longest = fits.flatMap(({ route, length }) => (length === most ? [route] : []));
  return longest.find(isNamed) ?? longest[0];
}

/** A secret is all that the relay adds to the headers: what no header may hold is in it. */
function sendTrouble(error: NodeJS.ErrnoException, { secret }: RelayRoute): Error {
  if (error.code !== "ERR_INVALID_CHAR") return error;
  const words = `the value of ${secret} has a character that no header may have: export it again without line breaks`;
  return Object.assign(new Error(words), { code: codes.unsendableSecret });
}

function unreadable({ message }: Error): Error {
  const words = `the provider's answer cannot be passed on: ${message}`;
  return Object.assign(new Error(words), { code: codes.unreadableAnswer });
}

function passed(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.test(name)));
}

function mapped(headers: OutgoingHttpHeaders, change: (text: string) => string): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(change) : change(String(value)),
    ]),
  );
}

function refuse(answer: ServerResponse, status: number, message: string): void {
  if (answer.headersSent) {
    answer.destroy();
    return;
  }
  answer.writeHead(status, { "content-type": "application/json", connection: "close" });
  answer.end(JSON.stringify({ error: { message } }));
}

/** A body without its length in the headers. */
function bounded(asked: IncomingMessage, most: number, tooLong: () => void): void {
  let bytes = 0;
  asked.on("data", (part: Buffer) => {
    bytes += part.length;
    if (bytes > most) tooLong();
  });
}
