// Decides whether a file may enter a sealed attempt: not if it is a withheld file of an evaluation set, by its
// name or digest, nor if it holds a withheld row.
import { readFileSync } from "node:fs";
import { matchesGlob } from "node:path/posix";
import { mustFollow } from "@mlrb/formats/read-format";
import { type Withheld, withheldFile } from "@mlrb/formats/stage/withheld";
import { ContentSearches, notSearched } from "./content-searches.ts";
import { RowIndex, RowSearch } from "./contents/row-search.ts";
import type { CachedFile, DownloadCache } from "./download-cache.ts";
import { NotServed } from "./fetch-upstream.ts";
import type { Repository } from "./hub-request.ts";

export class DownloadAdmission {
  readonly #withheld: Withheld;
  readonly #index: RowIndex;
  readonly #searches: ContentSearches;
  readonly #digests: Set<string>;

  /** `file`: withheld.json. Throws if it is none. */
  constructor(file: string) {
    this.#withheld = mustFollow(withheldFile, JSON.parse(readFileSync(file, "utf8")), "withheld.json");
    this.#index = new RowIndex(this.#withheld);
    this.#searches = new ContentSearches(file);
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
    const answer = await this.#searches.answer(file, at);
    if (answer.kind === "unreadable") throw notSearched(answer.detail);
    if (answer.rows > 0) throw new NotServed("withheld", withheldText([]));
  }
}

function withheldText(serves: string[]): string {
  const rest = serves.length === 0 ? "" : `; of its repository these files are served: ${serves.join(", ")}`;
  return `evaluation data of this task is not served${rest}`;
}
