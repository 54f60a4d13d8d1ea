// The hub as the supervisor reads it: facts of repositories, and where the content of a file lies. No key is used,
// so an agent sees what is public and nothing else.
import { isTable } from "@mlrb/formats/is-table";
import { LRUCache } from "lru-cache";
import { fetchUpstream, NotServed } from "./fetch-upstream.ts";
import { encodedPath, type Repository } from "./hub-request.ts";

export type RepositoryFacts = Repository & {
  /** The commit. */
  revision: string;
  createdAt?: string;
  parameters?: number;
};

const jsonBytesMax = 32 << 20;
/** Repositories and revisions whose facts are kept. */
const factsMax = 10_000;

export class HubServer {
  readonly #endpoint: URL;
  readonly #signal: AbortSignal;
  readonly #known = new LRUCache<string, Promise<RepositoryFacts>>({ max: factsMax });
  readonly #dates = new LRUCache<string, Promise<string | undefined>>({ max: factsMax });

  /** `endpoint` as in HF_ENDPOINT. */
  constructor(endpoint: string, signal: AbortSignal) {
    this.#endpoint = new URL(endpoint.replace(/\/*$/, "/"));
    this.#signal = signal;
  }

  /** The repository as the hub names it now, and the commit of `revision`. A branch is looked up once for an attempt. */
  facts(repository: Repository, revision: string): Promise<RepositoryFacts> {
    const key = JSON.stringify([repository.type, repository.id, revision]);
    return askOnce(this.#known, key, () => this.#askFacts(repository, revision));
  }

  async #askFacts(repository: Repository, revision: string): Promise<RepositoryFacts> {
    const { text } = await this.json(apiPath(repository, ["revision", revision]));
    const about: unknown = JSON.parse(text);
    const { id, sha } = isTable(about) ? about : {};
    if (typeof id !== "string" || typeof sha !== "string" || !/^[0-9a-f]{40}$/.test(sha))
      throw new NotServed("upstream", "the hub's answer names no commit");
    const { createdAt, safetensors, private: closed } = about as Record<string, unknown>;
    if (closed === true) throw new NotServed("not-there", "the repository is private");
    const parameters = isTable(safetensors) ? safetensors.total : undefined;
    return {
      ...{ type: repository.type, id, revision: sha },
      ...(typeof createdAt === "string" && { createdAt: createdAt.slice(0, 40) }),
      ...(Number.isSafeInteger(parameters) && { parameters: parameters as number }),
    };
  }

  /**
   * What the hub answers about a file. The content may lie elsewhere. `etag`: git's hash of a small file, the
   * SHA-256 of a large one.
   */
  async file({ type, id, revision }: RepositoryFacts, path: string) {
    const folder = [...(type === "dataset" ? ["datasets"] : []), ...id.split("/")];
    const segments = [...folder, "resolve", revision, ...path.split("/")];
    const url = new URL(encodedPath(segments), this.#endpoint);
    const { headers } = await fetchUpstream(url, {
      ...{ method: "HEAD", signal: this.#signal },
      follow: (answer) => answer.headers["x-linked-etag"] === undefined,
    });
    const said = (name: string) => (headers[name] === undefined ? undefined : String(headers[name]));
    const etag = (said("x-linked-etag") ?? said("etag") ?? "").replace(/^W\/|"/g, "");
    const size = said("x-linked-size") ?? said("content-length") ?? "";
    const commit = said("x-repo-commit");
    if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(etag) || !/^\d+$/.test(size))
      throw new NotServed("upstream", "the hub's answer names no digest or size of the file");
    if (commit !== undefined && commit !== revision)
      throw new NotServed("upstream", "the hub answered another commit");
    return { url, etag, bytes: Number(size) };
  }

  /**
   * The date of the last commit that changed the file, as the hub says. A hub without such dates, and a file that
   * it has in another revision, has none.
   */
  changedAt(facts: RepositoryFacts, path: string): Promise<string | undefined> {
    const key = JSON.stringify([facts.type, facts.id, facts.revision, path]);
    return askOnce(this.#dates, key, () => this.#askDate(facts, path));
  }

  async #askDate(facts: RepositoryFacts, path: string): Promise<string | undefined> {
    const body = JSON.stringify({ paths: [path], expand: true });
    let listed: unknown;
    try {
      const { text } = await this.json(apiPath(facts, ["paths-info", facts.revision]), { body });
      listed = JSON.parse(text);
    } catch (error) {
      // a hub that does not answer now fails the download, which a client tries again: without a date, a rule
      // stays open
      if (error instanceof SyntaxError || (error instanceof NotServed && error.why === "not-there"))
        return undefined;
      throw error;
    }
    const entry = Array.isArray(listed) ? listed.find((one) => isTable(one) && one.path === path) : undefined;
    const { date } = isTable(entry?.lastCommit) ? entry.lastCommit : {};
    return typeof date === "string" ? date.slice(0, 40) : undefined;
  }

  /** An answer in JSON, whole, with the address of its next page. */
  async json(
    path: string,
    { query, body }: { query?: URLSearchParams; body?: string } = {},
  ): Promise<{ text: string; next: URLSearchParams | undefined }> {
    const url = new URL(path, this.#endpoint);
    if (query) url.search = query.toString();
    const { text, headers } = await fetchUpstream(url, {
      ...(body !== undefined && {
        ...{ method: "POST", body: { bytes: Buffer.from(body), type: "application/json" } },
      }),
      ...{ bytesMax: jsonBytesMax, signal: this.#signal },
    });
    const link = /<([^>]+)>;\s*rel="?next"?/.exec(String(headers.link ?? ""))?.[1];
    const next = link === undefined ? undefined : URL.parse(link, url)?.searchParams;
    return { text, next };
  }
}

/** The answer to `key`, which is asked for once; a failure is asked again. */
function askOnce<T>(known: LRUCache<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const before = known.get(key);
  if (before) return before;
  const answer = ask();
  answer.catch(() => known.delete(key));
  known.set(key, answer);
  return answer;
}

/** A slash in a revision, which is one part of `below`, is encoded. */
export function apiPath({ type, id }: Repository, below: string[]): string {
  return encodedPath(["api", `${type}s`, ...id.split("/"), ...below]);
}
