// Requests to a remote cache over plain HTTP, as Bazel's protocol has it: GET, HEAD and PUT of `ac/` and `cas/`, with
// bounded parallelism and repeated tries. A body is cut at its expected size, and a content is compared with its digest.

import { open } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import PQueue from "p-queue";
import {
  bodyOf,
  discard,
  expectStatus,
  type HttpAnswer,
  type HttpRequest,
  httpExchange,
  isAbsent,
  type RemoteAddress,
  type RequestBody,
} from "./http-exchange.ts";
import { RemoteTrouble, troubleOf } from "./remote-trouble.ts";
import { type From, ResumedDownload } from "./resumed-download.ts";

export type RemoteLimits = {
  /** Without a byte for this long, a request has failed. */
  stallMs: number;
  /** For an answer that is no content. */
  answerMs: number;
  /** Taking a result may last this long, or twice as long as the action took where it ran. */
  takeMs: number;
  /** A run may lose this much time to a cache, beyond the time that it saved. */
  patienceMs: number;
  /** Tries of one request, with the first. */
  tries: number;
  /** The pause before the second try; it doubles. */
  pauseMs: number;
};

export const remoteLimits: RemoteLimits = {
  stallMs: 10_000,
  answerMs: 15_000,
  takeMs: 60_000,
  patienceMs: 120_000,
  tries: 3,
  pauseMs: 250,
};

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
    this.#agent =
      address.url.protocol === "https:"
        ? new HttpsAgent({ keepAlive: true })
        : new HttpAgent({ keepAlive: true });
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
      const headers = { accept: "application/json" };
      const answer = await this.#exchange({ method: "GET", path, headers, signal: limited });
      if (isAbsent(answer)) return undefined;
      expectStatus(answer, [200], "GET");
      const parts: Buffer[] = [];
      let bytes = 0;
      for await (const part of bodyOf(answer)) {
        bytes += part.length;
        if (bytes > bytesMax)
          throw new RemoteTrouble("wrong-bytes", `it answered more than ${bytesMax} bytes for ${path}`);
        parts.push(part);
      }
      return Buffer.concat(parts).toString("utf8");
    });
  }

  /** The size that the server states; undefined if it lacks the content or states none. */
  sizeOf(path: string, signal: AbortSignal): Promise<number | undefined> {
    return this.#repeated(signal, async (limited) => {
      const answer = await this.#exchange({ method: "HEAD", path, signal: limited });
      if (isAbsent(answer)) return undefined;
      expectStatus(answer, [200, 204], "HEAD");
      answer.message.resume();
      const size = answer.message.headers["content-length"];
      return size === undefined ? undefined : Number(size);
    });
  }

  /** Starts from the beginning in every try: HTTP cannot resume a PUT. */
  put(path: string, body: RequestBody, signal: AbortSignal): Promise<void> {
    return this.#repeated(
      signal,
      async (limited) => {
        const answer = await this.#exchange({ method: "PUT", path, body, signal: limited });
        expectStatus(answer, [200, 201, 202, 204], "PUT");
        discard(answer);
      },
      Number.POSITIVE_INFINITY,
    );
  }

  /** Writes a content to the new file `to`. A broken connection is continued where it broke. */
  async download({
    digest,
    bytes,
    to,
    signal,
  }: {
    digest: string;
    bytes: number;
    to: string;
    signal: AbortSignal;
  }): Promise<void> {
    const file = await open(to, "wx");
    try {
      await new ResumedDownload(file, { digest, bytes, signal, tries: this.#limits.tries }).run(
        async (from) => {
          await sleep(from.try === 1 ? 0 : this.#pauseMs(from.try), undefined, { signal });
          return this.#queue.add(() => this.#part({ digest, signal }, from));
        },
      );
    } finally {
      await file.close();
    }
  }

  async #part({ digest, signal }: { digest: string; signal: AbortSignal }, from: From): Promise<void> {
    const headers = from.at > 0 ? { range: `bytes=${from.at}-` } : {};
    const answer = await this.#exchange({ method: "GET", path: `cas/${digest}`, headers, signal });
    if (isAbsent(answer)) throw new RemoteTrouble("missing", `it lacks a content of a result`);
    if (answer.status === 416) {
      discard(answer);
      from.restart();
      throw new RemoteTrouble("failing", "it has less of a content than it sent before");
    }
    expectStatus(answer, from.at > 0 ? [200, 206] : [200], "GET");
    const begins = /^bytes (\d+)-/.exec(answer.message.headers["content-range"] ?? "")?.[1];
    if (answer.status === 200) from.restart();
    else if (Number(begins) !== from.at) {
      discard(answer);
      from.restart();
      throw new RemoteTrouble("failing", "it continued a content at another place");
    }
    for await (const part of bodyOf(answer)) await from.write(part);
  }

  #exchange(request: HttpRequest): Promise<HttpAnswer> {
    return httpExchange(request, {
      address: this.#address,
      agent: this.#agent,
      stallMs: this.#limits.stallMs,
    });
  }

  /** Repeats what may succeed at the next try. `signal` aborts at once. */
  async #repeated<T>(
    signal: AbortSignal,
    request: (signal: AbortSignal) => Promise<T>,
    answerMs = this.#limits.answerMs,
  ): Promise<T> {
    for (let tried = 1; ; tried++) {
      try {
        // the time in the queue does not count
        return await this.#queue.add(() => inTime(request, { signal, limitMs: answerMs }));
      } catch (error) {
        signal.throwIfAborted();
        const trouble = troubleOf(error);
        if (trouble.kind !== "failing" || tried >= this.#limits.tries) throw trouble;
      }
      await sleep(this.#pauseMs(tried + 1), undefined, { signal });
    }
  }

  /** With a random part, so that the machines of a cluster do not return together. */
  #pauseMs(next: number): number {
    return this.#limits.pauseMs * 2 ** (next - 2) * (0.5 + Math.random());
  }
}

/** A connection that ends because its time is over can show any error. */
async function inTime<T>(
  request: (signal: AbortSignal) => Promise<T>,
  { signal, limitMs }: { signal: AbortSignal; limitMs: number },
): Promise<T> {
  if (!Number.isFinite(limitMs)) return request(signal);
  const time = AbortSignal.timeout(limitMs);
  try {
    return await request(AbortSignal.any([signal, time]));
  } catch (error) {
    throw time.aborted ? new RemoteTrouble("silent", "it did not answer in time") : error;
  }
}
