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
import { performServerHandshake, type ServerHttp2Session } from "node:http2";
import { request as httpsRequest } from "node:https";
import { type Duplex, Transform } from "node:stream";
import { Redactor, textRedactor } from "@mlrb/core/ports/redactor";
import { placeholderOf, type RelayRoute, relayErrorHeader } from "@mlrb/core/ports/relay";

export type RelayOptions = {
  /** The attempt's name, from which the placeholders come. */
  attempt: string;
  routes: RelayRoute[];
  /** Values by name. */
  secrets: Record<string, string>;
  requestBytesMax?: number;
};

const requestBytesMax = 64 * 2 ** 20;
const callsMax = 64;
/** A channel that does not answer for this long is taken for broken. */
const answerMs = 30_000;

/** Headers of one connection, which are not passed on. */
const ofConnection =
  /^(connection|keep-alive|host|te|trailer|transfer-encoding|upgrade|expect|proxy-.*|x-mlrb-.*)$/;

export class RelayServer {
  readonly #options: RelayOptions;
  readonly #server: Server;
  #secrets: Record<string, string>;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#secrets = { ...options.secrets };
    this.#server = createServer((asked, answer) => this.#forward(asked, answer));
  }

  /** New values of secrets, for the calls from now on. */
  take(secrets: Record<string, string>): void {
    this.#secrets = { ...this.#secrets, ...secrets };
  }

  /** Serves calls from one channel until it ends; each call is a stream of its own. */
  async serve(channel: Duplex): Promise<void> {
    const session = performServerHandshake(channel, { settings: { maxConcurrentStreams: callsMax } });
    session.on("error", () => {}); // `close` follows
    session.on("stream", (stream, headers) => {
      stream.on("error", () => {}); // the call's own end follows
      if (headers[":method"] !== "CONNECT") return stream.close();
      stream.respond({ ":status": 200 });
      this.#server.emit("connection", stream);
    });
    for (const end of ["end", "close", "error"]) channel.on(end, () => session.destroy());
    const pings = pinging(session);
    await new Promise<void>((closed) => session.once("close", () => closed()));
    clearInterval(pings);
  }

  #forward(asked: IncomingMessage, answer: ServerResponse): void {
    asked.on("error", () => {});
    answer.on("error", () => {});
    const url = URL.canParse(asked.url ?? "") ? new URL(asked.url!) : undefined;
    const route = url && routeOf(url, this.#options.routes);
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
  }

  /** As it comes, without a secret that the provider may quote. */
  #pass(from: IncomingMessage, to: ServerResponse): void {
    const redact = textRedactor(this.#secrets);
    const { "content-length": _, ...headers } = passed(from.headers);
    if (!["identity", undefined].includes(from.headers["content-encoding"])) {
      from.destroy();
      this.#failed(to, new Error("the provider compressed its answer, which was to be plain"));
      return;
    }
    to.writeHead(from.statusCode ?? 502, mapped(headers, redact));
    to.flushHeaders();
    const redactor = new Redactor(this.#secrets);
    const cleaned = new Transform({
      transform: (part: Buffer, _encoding, done) => done(null, redactor.push(part)),
      flush: (done) => done(null, redactor.end()),
    });
    from.on("error", () => to.destroy());
    from.on("aborted", () => to.destroy()); // cut: the node must not take it for whole
    from.pipe(cleaned).pipe(to);
  }

  #failed(answer: ServerResponse, error: NodeJS.ErrnoException): void {
    if (answer.headersSent) {
      answer.destroy();
      return;
    }
    const words = textRedactor(this.#secrets)(error.message);
    answer.writeHead(502, {
      [relayErrorHeader]: error.code ?? "ECONNRESET",
      [`${relayErrorHeader}-detail`]: encodeURIComponent(words.slice(0, 500)),
    });
    answer.end();
  }

  /** Puts the secret of the route, and no other, in the place of its placeholder. */
  #fill({ secret }: RelayRoute): (text: string) => string {
    const value = secret === undefined ? undefined : this.#secrets[secret];
    if (value === undefined) return (text) => text;
    const placeholder = placeholderOf(this.#options.attempt, secret!);
    return (text) => text.replaceAll(placeholder, () => value);
  }
}

/** The route whose address is the beginning of `url`, by whole parts of the path; the longest. */
export function routeOf(url: URL, routes: RelayRoute[]): RelayRoute | undefined {
  if (url.username !== "" || url.password !== "") return undefined;
  // `%2e%2e`, `%2f` and backslashes: a provider may read them as parts of a path
  if (/%2e|%2f|%5c|\\/i.test(url.pathname)) return undefined;
  const fits = routes.filter(({ address }) => {
    const { origin, pathname } = new URL(address);
    const begin = pathname.replace(/\/+$/, "");
    return url.origin === origin && (url.pathname === begin || url.pathname.startsWith(`${begin}/`));
  });
  return fits.sort((a, b) => b.address.length - a.address.length)[0];
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

/** Ends a session whose other side is silent. */
function pinging(session: ServerHttp2Session): NodeJS.Timeout {
  let silent = false;
  return setInterval(() => {
    if (silent || session.destroyed) return session.destroy();
    silent = true;
    session.ping(() => {
      silent = false;
    });
  }, answerMs).unref();
}
