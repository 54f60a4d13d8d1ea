// Decides whether a file may enter a sealed attempt: not if it is a withheld file of an evaluation set, by its name or
// digest, nor if it holds a withheld row.
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join, matchesGlob } from "node:path/posix";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Withheld, withheldFile } from "@mlrb/formats/stage/withheld";
import { execa } from "execa";
import { RowIndex, RowSearch } from "./contents/row-search.ts";
import type { SearchAnswer } from "./contents/search-file.ts";
import type { CachedFile, DownloadCache } from "./download-cache.ts";
import { NotServed } from "./fetch-upstream.ts";
import type { Repository } from "./hub-request.ts";

/** Unpacked bytes that are searched in one file; more is not served. */
const searchBytesMax = 64 * 2 ** 30;
const searchMs = 60 * 60_000;
/** Heap of the process that searches; the kernel limits its buffers. */
const heapMegabytes = 1024;
const dataKilobytes = 4 << 20;

export class DownloadAdmission {
  readonly #file: string;
  readonly #withheld: Withheld;
  readonly #index: RowIndex;
  readonly #digest: string;
  readonly #digests: Set<string>;

  /** `file`: withheld.json. Throws if it is none. */
  constructor(file: string) {
    const bytes = readFileSync(file);
    this.#file = file;
    this.#withheld = mustFollow(withheldFile, JSON.parse(bytes.toString()), "withheld.json");
    this.#index = new RowIndex(this.#withheld);
    this.#digest = createHash("sha256").update(bytes).digest("hex");
    this.#digests = new Set(this.#withheld.digests);
  }

  /** Throws `NotServed` for a withheld file of an evaluation set, under any spelling of its name. */
  checkName({ type, id }: Repository, path: string): void {
    const same = ({ repository, ...source }: Withheld["sources"][number]) =>
      source.type === type && repository.toLowerCase() === id.toLowerCase();
    for (const source of this.#withheld.sources.filter(same))
      if (!source.serves.some((pattern) => matchesGlob(path, pattern)))
        throw new NotServed("withheld", withheldText(source.serves));
  }

  checkDigest(digest: string): void {
    if (this.#digests.has(digest)) throw new NotServed("withheld", withheldText([]));
  }

  /** For texts that are no files, such as a list of search results. */
  checkText(text: string): void {
    const search = new RowSearch(this.#index);
    search.push(text);
    if (search.rowsFound() > 0) throw new NotServed("withheld", withheldText([]));
  }

  /** `strict`: a data set whose rows cannot be read is refused. */
  async checkContent(
    file: CachedFile,
    at: { cache: DownloadCache; strict: boolean; signal: AbortSignal },
  ): Promise<void> {
    this.checkDigest(file.digest);
    const { cache, strict } = at;
    const known = (await cache.searched(this.#digest, file, strict)) as SearchAnswer | undefined;
    const answer = known ?? (await this.#search(file, at));
    if (!known) await cache.putSearched(this.#digest, file, { strict, answer });
    if (answer.kind === "unreadable")
      throw new NotServed(
        "unreadable",
        `the file was not served, because it could not be searched for evaluation data: ${answer.detail}`,
      );
    if (answer.rows > 0) throw new NotServed("withheld", withheldText([]));
  }

  async #search(
    { path }: CachedFile,
    { cache, strict, signal }: { cache: DownloadCache; strict: boolean; signal: AbortSignal },
  ): Promise<SearchAnswer> {
    const scratch = mkdtempSync(join(cache.folder, "partial", "search-"));
    const program = join(import.meta.dirname, "contents/search-file.ts");
    const node = [
      process.execPath,
      "--disable-warning=ExperimentalWarning",
      `--max-old-space-size=${heapMegabytes}`,
    ];
    const args = [program, this.#file, path, scratch, strict ? "strict" : "any", String(searchBytesMax)];
    try {
      const limited = 'ulimit -d "$0" 2>/dev/null; exec "$@"';
      const ended = await execa("sh", ["-c", limited, String(dataKilobytes), ...node, ...args], {
        ...{ cancelSignal: signal, timeout: searchMs, reject: false, stdin: "ignore", maxBuffer: 1 << 16 },
        ...{ extendEnv: false, env: { PATH: process.env.PATH ?? "", LANG: "C.UTF-8" } },
      });
      signal.throwIfAborted();
      return ended.exitCode === 0
        ? (JSON.parse(ended.stdout) as SearchAnswer)
        : {
            kind: "unreadable",
            detail: ended.timedOut ? "it takes too long" : "the search ended without an answer",
          };
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
}

function withheldText(serves: string[]): string {
  const rest = serves.length === 0 ? "" : `; of its repository these files are served: ${serves.join(", ")}`;
  return `evaluation data of this task is not served${rest}`;
}
