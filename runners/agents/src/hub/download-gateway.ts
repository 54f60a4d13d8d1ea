// Downloads for programs that have no network: a server of the supervisor for a model hub, a package index and a
// code host. It only reads, fetches a file whole, searches it, records it, and then serves it. Every program that
// connects counts as hostile: what it sends has a limit in size and time.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import PQueue from "p-queue";
import { guardedServer } from "../gateway/guarded-server.ts";
import type { DownloadAdmission } from "./admit-download.ts";
import type { CachedFile, DownloadCache, WantedFile } from "./download-cache.ts";
import { NotServed, noSpace } from "./fetch-upstream.ts";
import { answerWith, type Exchange, refuse, sent } from "./gateway-answers.ts";
import { encodedPath, type HubRequest, hubRequest } from "./hub-request.ts";
import { apiPath, HubServer, type RepositoryFacts } from "./hub-server.ts";
import { indexPage, PackageIndex } from "./package-index.ts";
import { pathsBody } from "./paths-body.ts";

export type DownloadEvent = Extract<TrajectoryEvent, { event: "download" | "download-refused" }>;

export type DownloadGatewayOptions = {
  servers: { hub: string; packages: string; code: string };
  /** Owners/names of code repositories, or patterns of them. */
  codeAllowed: string[];
  cache: DownloadCache;
  admission: DownloadAdmission;
  /** Of all files of the attempt. */
  bytesMax: number;
  write(event: DownloadEvent): void;
  /** The record cannot be written. */
  failed(error: unknown): void;
};

/** Requests that are answered at once; others wait. */
const activeMax = 16;
/** Requests that wait; more than connections, since a program may send several on one. */
const waitingMax = 256;
/** How long the end of an attempt waits for downloads and searches to stop. Nothing is recorded in this time. */
const closeMs = 10_000;
/** Refusals on record; a program may ask without end. */
const refusalsMax = 1000;

type Recorded = Omit<Extract<DownloadEvent, { event: "download" }>, "event" | "digest" | "bytes" | "cached">;

export class DownloadGateway {
  /** The caller makes it listen. */
  readonly server: Server;
  readonly #options: DownloadGatewayOptions;
  readonly #over = new AbortController();
  readonly #hub: HubServer;
  readonly #packages: PackageIndex;
  readonly #entered = new Map<string, number>();
  readonly #queue = new PQueue({ concurrency: activeMax });
  #refusals = 0;

  constructor(options: DownloadGatewayOptions) {
    this.#options = options;
    const { signal } = this.#over;
    this.#hub = new HubServer(options.servers.hub, signal);
    this.#packages = new PackageIndex(options.servers.packages, signal);
    this.server = guardedServer((...exchange) => this.#serve(...exchange), options.failed);
  }

  /** Ends every download and answers no new request. The record is complete: nothing is recorded from here on. */
  async close(): Promise<void> {
    this.#over.abort(new NotServed("upstream", "the attempt is over"));
    this.server.close();
    this.server.closeAllConnections(); // an answer that a program does not read would never end
    await Promise.race([this.#queue.onIdle(), sleep(closeMs, undefined, { ref: false })]);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "" } = request;
    try {
      const asked = hubRequest(method, url);
      if (!asked)
        throw new NotServed("not-served", "the gateway reads models, data sets, packages and code only");
      await this.#inTurn(response, () => this.#answer(asked, { request, response }));
    } catch (error) {
      const known = error instanceof NotServed ? error : unknownTrouble(error);
      refuse(response, known);
      this.#recordRefusal(`${method} ${url}`, known);
    }
  }

  /** Waits for its turn, until the program goes away or the attempt ends. What has begun counts until it ends. */
  async #inTurn(response: ServerResponse, answer: () => Promise<void>): Promise<void> {
    if (this.#queue.size >= waitingMax)
      throw new NotServed("over-limit", `more than ${waitingMax} requests wait`, { status: 503 });
    const waiting = new AbortController();
    const leave = () => waiting.abort(new NotServed("upstream", "the program went away"));
    response.once("close", leave);
    if (response.destroyed) leave();
    const begin = () => {
      response.off("close", leave); // from here on an abort would free its place while it goes on
      this.#over.signal.throwIfAborted();
      return answer();
    };
    await this.#queue.add(begin, { signal: waiting.signal });
  }

  #recordRefusal(asked: string, { why: cause, message: detail }: NotServed): void {
    if (this.#over.signal.aborted || ++this.#refusals > refusalsMax) return;
    this.#write({ event: "download-refused", asked: asked.slice(0, 500).toWellFormed(), cause, detail });
  }

  #write(event: DownloadEvent): void {
    try {
      this.#options.write(event);
    } catch (error) {
      this.#options.failed(error);
      throw error;
    }
  }

  async #answer(asked: HubRequest, exchange: Exchange): Promise<void> {
    switch (asked.kind) {
      case "hub-file":
        return await this.#hubFile(asked, exchange);
      case "hub-facts":
        return await this.#json(apiPath(asked.repository, asked.below), { query: asked.query }, exchange);
      case "hub-search":
        return await this.#json(encodedPath(["api", `${asked.type}s`]), { query: asked.query }, exchange);
      case "hub-paths": {
        const body = await pathsBody(exchange.request);
        return await this.#json(
          apiPath(asked.repository, ["paths-info", asked.revision]),
          { body },
          exchange,
        );
      }
      case "package": {
        const page = indexPage(asked.name, await this.#packages.files(asked.name));
        return answerWith(page, { "content-type": "text/html; charset=utf-8" }, exchange);
      }
      case "package-file":
        return await this.#packageFile(asked, exchange);
      case "code":
        return await this.#code(asked, exchange);
    }
  }

  async #hubFile(
    { repository, revision, path }: Extract<HubRequest, { kind: "hub-file" }>,
    exchange: Exchange,
  ): Promise<void> {
    const { request, response } = exchange;
    const { admission } = this.#options;
    admission.checkName(repository, path);
    const facts = await this.#hub.facts(repository, revision);
    admission.checkName(facts, path); // the name that it has now
    const file = await this.#hub.file(facts, path);
    admission.checkDigest(file.etag);
    response.setHeader("X-Repo-Commit", facts.revision);
    response.setHeader("ETag", `"${file.etag}"`);
    response.setHeader("Accept-Ranges", "bytes");
    if (file.etag.length === 64) {
      response.setHeader("X-Linked-ETag", `"${file.etag}"`);
      response.setHeader("X-Linked-Size", file.bytes);
    }
    if (request.method === "HEAD") {
      response
        .writeHead(200, { "content-length": file.bytes, "content-type": "application/octet-stream" })
        .end();
      return;
    }
    const known = file.etag.length === 64 ? { sha256: file.etag } : { gitSha1: file.etag };
    const strict = facts.type === "dataset";
    const changedAt = facts.type === "model" ? await this.#hub.changedAt(facts, path) : undefined;
    const entering = { ...recorded(facts, path), ...(changedAt !== undefined && { changedAt }) };
    await this.#enter({ url: file.url, known, bytes: file.bytes }, { entering, strict, exchange });
  }

  async #packageFile(
    { name, file, metadata }: Extract<HubRequest, { kind: "package-file" }>,
    exchange: Exchange,
  ): Promise<void> {
    const found = await this.#packages.file(name, file);
    const sha256 = metadata ? found.metadata : found.sha256;
    if (sha256 === undefined) throw new NotServed("not-there", `the index has no metadata of ${file}`);
    const url = new URL(found.url);
    if (metadata) url.pathname += ".metadata";
    const path = metadata ? `${file}.metadata` : file;
    const entering = { from: "package" as const, id: name, revision: null, path };
    await this.#enter({ url, known: { sha256 } }, { entering, strict: false, exchange });
  }

  async #code({ id, ref }: Extract<HubRequest, { kind: "code" }>, exchange: Exchange): Promise<void> {
    const { servers, codeAllowed } = this.#options;
    const allowed = (pattern: string) =>
      new RegExp(`^${pattern.split("*").map(RegExp.escape).join("[^/]*")}$`, "i").test(id);
    if (!codeAllowed.some(allowed))
      throw new NotServed(
        "not-served",
        `the code repository ${id} is not on the list: ${codeAllowed.join(", ")}`,
      );
    const url = new URL(
      encodedPath([...id.split("/"), "tar.gz", ...ref.split("/")]),
      servers.code.replace(/\/*$/, "/"),
    );
    const fixed = /^[0-9a-f]{40}$/.test(ref); // a branch or tag may move
    const entering = { from: "code" as const, id, revision: ref, path: "archive.tar.gz" };
    const wanted = { url, known: {}, ...(fixed && { name: `code ${id} ${ref}` }) };
    await this.#enter(wanted, { entering, strict: false, exchange });
  }

  /** Downloads, searches, records and serves one file. */
  async #enter(
    wanted: WantedFile,
    { entering, strict, exchange }: { entering: Recorded; strict: boolean; exchange: Exchange },
  ): Promise<void> {
    const { cache, admission } = this.#options;
    const { signal } = this.#over;
    this.#book(wanted.bytes ?? 0, wanted.known.sha256);
    const file = await cache.get(wanted, signal);
    this.#book(file.bytes, file.digest);
    await admission.checkContent(file, { cache, strict, signal });
    signal.throwIfAborted();
    this.#record(entering, file);
    await sent(file, exchange);
  }

  /** Throws once the attempt has all the bytes that it may get. */
  #book(bytes: number, digest: string | undefined): void {
    if (digest !== undefined && this.#entered.has(digest)) return;
    const all = this.#entered.values().reduce((sum, one) => sum + one, 0) + bytes;
    if (all > this.#options.bytesMax)
      throw new NotServed(
        "over-limit",
        `with this file the attempt would have downloaded ${all} bytes, more than its limit of ${this.#options.bytesMax}`,
      );
  }

  #record(entering: Recorded, { digest, bytes, cached }: CachedFile): void {
    const { from, id, revision, path } = entering;
    const name = JSON.stringify([from, id, revision, path, digest]);
    if (this.#entered.has(name)) return;
    this.#entered.set(name, 0);
    if (!this.#entered.has(digest)) this.#entered.set(digest, bytes);
    this.#write({ event: "download", ...entering, digest, bytes, cached });
  }

  async #json(
    path: string,
    ask: { query?: URLSearchParams; body?: string },
    exchange: Exchange,
  ): Promise<void> {
    const { text, next } = await this.#hub.json(path, ask);
    this.#options.admission.checkText(text);
    // a next page has the same path; the program finds the gateway where it found it now
    const host = /^127\.0\.0\.1:\d{1,5}$/.exec(exchange.request.headers.host ?? "")?.[0];
    const link = next && host && { link: `<http://${host}/${path}?${next}>; rel="next"` };
    answerWith(text, { "content-type": "application/json", ...link }, exchange);
  }
}

/** The texts of libraries, servers and the file system name places of this host; no agent reads them. */
function unknownTrouble(error: unknown): NotServed {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT"
    ? noSpace()
    : new NotServed("upstream", "the answer cannot be read");
}

function recorded({ type, id, revision, createdAt, parameters }: RepositoryFacts, path: string): Recorded {
  return {
    ...{ from: type, id, revision, path },
    ...(createdAt !== undefined && { createdAt }),
    ...(parameters !== undefined && { parameters }),
  };
}
