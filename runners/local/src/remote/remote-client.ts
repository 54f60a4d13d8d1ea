// Requests to a remote cache over plain HTTP, as Bazel's protocol has it: GET, HEAD and PUT of `ac/` and `cas/`,
// with bounded parallelism and repeated tries. A body is cut at its expected size, and a content is compared with
// its digest. A redirect is not followed, and no proxy is asked.

import { open } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import {
  askHttp,
  bytesOf,
  discard,
  expectStatus,
  type HttpAnswer,
  type HttpRequest,
  isAbsent,
  type RequestBody,
} from "@mlrb/kit/http/ask-http";
import { download } from "@mlrb/kit/http/download";
import { HttpTrouble } from "@mlrb/kit/http/http-trouble";
import { inTime, repeated } from "@mlrb/kit/http/repeated";
import PQueue from "p-queue";

export type RemoteAddress = { url: URL; token: string | undefined };

export const remoteLimits = {
  /** Without a byte for this long, a request has failed. */
  stallMs: 10_000,
  /** For an answer that is no content. */
  answerMs: 15_000,
  /** Taking a result may last this long, or twice as long as the action took where it ran. */
  takeMs: 60_000,
  /** A run may lose this much time to a cache, beyond the time that it saved. */
  patienceMs: 120_000,
  /** Tries of one request, with the first. */
  tries: 3,
  /** The pause before the second try; it doubles. */
  pauseMs: 250,
};

export type RemoteLimits = typeof remoteLimits;

type Download = { digest: string; bytes: number; to: string; signal: AbortSignal };

/** One direction of the traffic: its requests at the same time are bounded. */
export class RemoteClient {
  readonly #address: RemoteAddress;
  readonly #limits: RemoteLimits;
  readonly #queue: PQueue;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(
    address: RemoteAddress,
    { concurrency, limits }: { concurrency: number; limits: RemoteLimits },
  ) {
    this.#address = address;
    this.#limits = limits;
    this.#queue = new PQueue({ concurrency });
    const Agent = address.url.protocol === "https:" ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({ keepAlive: true });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** A text of at most `bytesMax` bytes, or undefined if the server has none. */
  text(
    path: string,
    { bytesMax, signal }: { bytesMax: number; signal: AbortSignal },
  ): Promise<string | undefined> {
    return this.#repeated(signal, async (limited) => {
      const answer = await this.#ask(path, { headers: { accept: "application/json" }, signal: limited });
      if (isAbsent(answer)) return undefined;
      expectStatus(answer, [200]);
      return (await bytesOf(answer, bytesMax)).toString("utf8");
    });
  }

  /** The size that the server states; undefined if it lacks the content or states none. */
  sizeOf(path: string, signal: AbortSignal): Promise<number | undefined> {
    return this.#repeated(signal, async (limited) => {
      const answer = await this.#ask(path, { method: "HEAD", signal: limited });
      if (isAbsent(answer)) return undefined;
      expectStatus(answer, [200, 204]);
      answer.message.resume();
      const size = answer.headers["content-length"];
      return size === undefined ? undefined : Number(size);
    });
  }

  /** Starts from the beginning in every try: HTTP cannot resume a PUT. */
  put(path: string, body: RequestBody, signal: AbortSignal): Promise<void> {
    return this.#repeated(
      signal,
      async (limited) => {
        const answer = await this.#ask(path, { method: "PUT", body, signal: limited });
        expectStatus(answer, [200, 201, 202, 204]);
        discard(answer);
      },
      Number.POSITIVE_INFINITY,
    );
  }

  /** Writes a content to the new file `to`. A broken connection is continued where it broke. */
  async download(content: Download): Promise<void> {
    const { digest, bytes, to, signal } = content;
    const file = await open(to, "wx");
    try {
      const { digests } = await download(file, {
        ...{ bytes, signal, tries: this.#limits.tries, pauseMs: (next) => this.#pauseMs(next) },
        ask: (headers) => this.#ask(`cas/${digest}`, { headers, signal }),
        inTurn: (connection) => this.#queue.add(connection),
      });
      if (digests[0] !== digest)
        throw new HttpTrouble("wrong-bytes", `it sent other bytes than those of ${digest.slice(0, 12)}`);
    } finally {
      await file.close();
    }
  }

  #ask(path: string, { headers, ...request }: Omit<HttpRequest, "stallMs">): Promise<HttpAnswer> {
    const { url, token } = this.#address;
    const at = new URL(url);
    at.pathname = `${url.pathname.replace(/\/+$/, "")}/${path}`; // two slashes at its beginning would name another host
    const authorization = token && (/^(Basic|Bearer) /.test(token) ? token : `Bearer ${token}`);
    return askHttp(at, {
      ...request,
      headers: { ...(authorization && { authorization }), ...headers },
      agent: this.#agent,
      stallMs: this.#limits.stallMs,
    });
  }

  #repeated<T>(
    signal: AbortSignal,
    request: (signal: AbortSignal) => Promise<T>,
    limitMs = this.#limits.answerMs,
  ): Promise<T> {
    const { tries } = this.#limits;
    const pauseMs = (next: number) => this.#pauseMs(next);
    // the time in the queue does not count
    const once = () => this.#queue.add(() => inTime(request, { signal, limitMs }));
    return repeated(once, { tries, pauseMs, signal });
  }

  /** With a random part, so that the machines of a cluster do not return together. */
  #pauseMs(next: number): number {
    return this.#limits.pauseMs * 2 ** (next - 2) * (0.5 + Math.random());
  }
}
