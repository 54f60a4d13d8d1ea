// A remote cache on this machine for tests: GET with ranges, HEAD and PUT of `ac/` and `cas/`. A test can spoil
// the next answers, read the requests, and change what is stored.
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { LoopbackServer } from "./loopback-server.ts";

type CacheFault = {
  path: RegExp;
  method?: "GET" | "HEAD" | "PUT";
  times?: number;
  /**
   * `cut`: the connection ends after half of the rest. `stall`: nothing comes after half of it. `drip`: one byte
   * each 5 ms. `silent`: no answer. `endless`: bytes without end. `whole`: the range is ignored. `elsewhere`:
   * another range than was asked for. A text: other bytes of status 200. A number: this status.
   */
  as: "cut" | "stall" | "drip" | "silent" | "endless" | "whole" | "elsewhere" | { text: string } | number;
};

type CacheRequest = {
  method: string;
  path: string;
  range: string | undefined;
  authorization: string | undefined;
};

export class LoopbackCache {
  readonly stored = new Map<string, Buffer>();
  readonly requests: CacheRequest[] = [];
  readonly faults: CacheFault[] = [];
  readonly #server = new LoopbackServer((request, response) => void this.#answer(request, response));
  /** The most requests that were open at once. */
  openMax = 0;
  #open = 0;

  async start(): Promise<this> {
    await this.#server.start();
    return this;
  }

  close(): void {
    this.#server.close();
  }

  get url(): URL {
    return new URL(this.#server.endpoint);
  }

  /** The requests as `METHOD PATH`, digests cut to 6 digits. */
  log(): string[] {
    return this.requests.map(
      ({ method, path }) => `${method} ${path.replace(/([0-9a-f]{6})[0-9a-f]+/, "$1")}`,
    );
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.openMax = Math.max(this.openMax, ++this.#open);
    response.once("close", () => this.#open--);
    response.on("error", () => {});
    const { method = "", url = "" } = request;
    const path = url.slice(1);
    const { range, authorization } = request.headers;
    this.requests.push({ method, path, range, authorization });
    const fault = this.#faultOf(method, path);
    if (fault === "silent") return;
    if (typeof fault === "number") {
      request.resume();
      response.writeHead(fault, fault >= 300 && fault < 400 ? { location: "/elsewhere" } : {}).end("no");
      return;
    }
    if (method === "PUT") {
      const body = await buffer(request).catch(() => undefined);
      if (!body) return;
      this.stored.set(path, body);
      response.writeHead(201).end();
      return;
    }
    const content = typeof fault === "object" ? Buffer.from(fault.text) : this.stored.get(path);
    if (!content) {
      response.writeHead(404).end("no such thing");
      return;
    }
    if (method === "HEAD") {
      response.writeHead(200, { "content-length": content.length }).end();
      return;
    }
    const asked = fault === "whole" ? 0 : Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
    const from = fault === "elsewhere" ? Math.max(0, asked - 1) : asked;
    const rest = content.subarray(from);
    const partial = range !== undefined && fault !== "whole";
    const length = fault === "endless" ? {} : { "content-length": rest.length };
    response.writeHead(partial ? 206 : 200, {
      ...length,
      ...(partial && { "content-range": `bytes ${from}-${content.length - 1}/${content.length}` }),
    });
    await sendAs(fault, rest, response);
  }

  #faultOf(method: string, path: string): CacheFault["as"] | undefined {
    const fault = this.faults.find(
      (one) => (one.times ?? 1) > 0 && one.path.test(path) && (one.method ?? method) === method,
    );
    if (fault) fault.times = (fault.times ?? 1) - 1;
    return fault?.as;
  }
}

async function sendAs(
  fault: CacheFault["as"] | undefined,
  rest: Buffer,
  response: ServerResponse,
): Promise<void> {
  if (fault === "cut") response.write(rest.subarray(0, rest.length >> 1), () => response.destroy());
  else if (fault === "stall") response.write(rest.subarray(0, rest.length >> 1));
  else if (fault === "endless") {
    const more = () => {
      while (!response.destroyed && response.write(rest));
    };
    response.on("drain", more);
    more();
  } else if (fault === "drip") {
    for (const byte of rest) {
      if (response.destroyed) return;
      response.write(Buffer.of(byte));
      await new Promise((done) => setTimeout(done, 5));
    }
    response.end();
  } else response.end(rest);
}
