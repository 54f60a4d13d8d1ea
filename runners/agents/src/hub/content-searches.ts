// Runs the searches of one attempt's downloads, each in a process with limits. Keeps an answer only if it is one
// about the content: what a full disk, a signal or a timeout ended says nothing of the file and is searched again.
import { createHash } from "node:crypto";
import { mkdtempDisposableSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import PQueue from "p-queue";
import { limitedNode } from "./contents/limited-node.ts";
import type { SearchAnswer } from "./contents/search-file.ts";
import type { CachedFile, DownloadCache } from "./download-cache.ts";
import { NotServed } from "./fetch-upstream.ts";

/** Unpacked bytes that are searched in one file; more is not served. */
const searchBytesMax = 64 * 2 ** 30;
const searchMs = 60 * 60_000;
/** Processes at once; each may take some GB of memory, and unpacks into the folder of the cache. */
const searchesMax = 2;
const freeSpaceMs = 500;

type SearchPlace = { cache: DownloadCache; strict: boolean; signal: AbortSignal };

export class ContentSearches {
  readonly #withheld: string;
  readonly #program: string;
  readonly #version: string;
  readonly #queue = new PQueue({ concurrency: searchesMax });
  readonly #running = new Map<string, Promise<SearchAnswer>>();

  /** `withheld`: path of withheld.json. */
  constructor(withheld: string, program = join(import.meta.dirname, "contents/search-file.ts")) {
    this.#withheld = withheld;
    this.#program = program;
    this.#version = searchVersion(withheld);
  }

  /** Equal requests share one search, which goes on when they go away. Throws `NotServed` if it has no answer. */
  async answer(file: CachedFile, place: SearchPlace): Promise<SearchAnswer> {
    const { cache, strict } = place;
    const known = await cache.searched(this.#version, file, strict);
    if (known !== undefined) return known as SearchAnswer;
    return await this.#running.getOrInsertComputed(`${file.digest} ${strict}`, (key) =>
      this.#queue.add(() => this.#search(file, place)).finally(() => this.#running.delete(key)),
    );
  }

  async #search(file: CachedFile, place: SearchPlace): Promise<SearchAnswer> {
    const { cache, strict, signal } = place;
    signal.throwIfAborted();
    await cache.checkFree();
    const full = new AbortController();
    using _timer = setInterval(() => cache.checkFree().catch((error) => full.abort(error)), freeSpaceMs);
    using scratch = mkdtempDisposableSync(join(cache.folder, "partial", "search-"));
    const stop = AbortSignal.any([signal, full.signal]);
    const answer = await this.#run(file, { scratch: scratch.path, strict, stop });
    await cache.putSearched(this.#version, file, { strict, answer });
    return answer;
  }

  async #run(
    { path }: CachedFile,
    { scratch, strict, stop }: { scratch: string; strict: boolean; stop: AbortSignal },
  ): Promise<SearchAnswer> {
    const how = strict ? "strict" : "any";
    const args = [this.#program, this.#withheld, path, scratch, how, String(searchBytesMax)];
    const ended = await limitedNode(args, {
      ...{ cancelSignal: stop, timeout: searchMs, maxBuffer: 1 << 16 },
      ...{ extendEnv: false, env: { PATH: process.env.PATH ?? "", LANG: "C.UTF-8" } },
    });
    stop.throwIfAborted();
    if (ended.exitCode === 0) return JSON.parse(ended.stdout) as SearchAnswer;
    throw notSearched(ended.timedOut ? "it takes too long" : "the search ended without an answer");
  }
}

export function notSearched(detail: string): NotServed {
  return new NotServed(
    "unreadable",
    `the file was not served, because it could not be searched for evaluation data: ${detail}`,
  );
}

/** Names what an answer depends on but the file: the withheld rows, the code of the search, its libraries, its limit. */
function searchVersion(withheld: string): string {
  const folder = join(import.meta.dirname, "contents");
  const code = readdirSync(folder).filter((name) => !name.endsWith(".test.ts"));
  const files = [withheld, join(import.meta.dirname, "../../package.json")];
  const sum = createHash("sha256").update(`${searchBytesMax}\n`);
  for (const file of [...files, ...code.sort().map((name) => join(folder, name))])
    sum.update(createHash("sha256").update(readFileSync(file)).digest());
  return sum.digest("hex");
}
