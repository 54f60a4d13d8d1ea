// A hub on this machine for tests. It speaks the part of the Hugging Face protocol that clients use here:
// repository information at a revision, commits, file trees with LFS digests in pages, and files with ranges, ETag
// and redirects. A test can close a repository, move its branch, and spoil the next answers.
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { LoopbackServer } from "./loopback-server.ts";

type HubFile = { content: Buffer; lfs: boolean };

type HubCommit = { sha: string; files: Map<string, HubFile>; card: Record<string, unknown>; date: string };

export type HubRepository = {
  type: "dataset" | "model";
  name: string;
  /** The newest first. */
  commits: HubCommit[];
  gated: false | "auto" | "manual";
  /** Whether only the hub's token may read it. */
  closed: boolean;
  createdAt: string;
  /** Of a model. */
  parameters?: number;
};

/** What happens to the next requests whose path, and method if it is given, matches. */
type Fault = {
  path: RegExp;
  method?: "GET" | "HEAD";
  times: number;
  /**
   * `cut`: the connection ends after half of the body. `stall`: nothing comes after half of it. An object: another
   * answer, of status 200 and without a body unless given, and without a Content-Length unless given.
   */
  as: { status?: number; headers?: Record<string, string>; text?: string } | "cut" | "stall";
};

export type HubRequest = {
  method: string;
  path: string;
  range: string | undefined;
  authorization: string | undefined;
};

type Broken = "cut" | "stall" | undefined;

const treePage = 2;
const anyDate = "2026-01-01T00:00:00.000Z";

export class LoopbackHub extends LoopbackServer {
  readonly requests: HubRequest[] = [];
  readonly faults: Fault[] = [];
  readonly #repositories = new Map<string, HubRepository>();
  readonly #token: string;

  constructor({ token = "hf_test" }: { token?: string } = {}) {
    super((request, response) => this.#answer(request, response));
    this.#token = token;
  }

  /** Adds a commit; makes the repository if it is new. Files that end in .parquet or .safetensors are in LFS. */
  commit(
    type: HubRepository["type"],
    name: string,
    files: Record<string, string | Buffer>,
    card: Record<string, unknown> = {},
  ): HubRepository {
    const key = `${type}s/${name}`;
    const made: HubRepository = { type, name, commits: [], gated: false, closed: false, createdAt: anyDate };
    const held = this.#repositories.get(key) ?? made;
    this.#repositories.set(key, held);
    const sha = sha1(`${key} ${held.commits.length}`);
    const entries = Object.entries({ ".gitattributes": "", ...files }).map(([path, text]) => {
      const lfs = /\.(parquet|safetensors)$/.test(path);
      return [path, { content: Buffer.from(text), lfs }] as const;
    });
    held.commits.unshift({ sha, files: new Map(entries), card, date: anyDate });
    return held;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? "/", this.endpoint);
    const path = decodeURIComponent(url.pathname);
    const { range, authorization } = request.headers;
    this.requests.push({ method: request.method ?? "", path, range, authorization });
    const fault = this.faults.find(
      (one) => one.times > 0 && one.path.test(path) && (one.method ?? request.method) === request.method,
    );
    if (fault) fault.times--;
    if (fault && typeof fault.as === "object") {
      const { status, headers, text } = { status: 200, headers: {}, text: "", ...fault.as };
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
      return;
    }
    const broken = typeof fault?.as === "string" ? fault.as : undefined;
    const api =
      /^\/api\/((?:dataset|model)s\/[^/]+\/[^/]+)(?:\/(revision|tree|commits|paths-info)\/([^/]+))?$/.exec(
        path,
      );
    const file = /^\/(datasets\/)?([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(path);
    if (api?.[2] === "paths-info")
      void this.#paths(request, response, { key: api[1]!, revision: api[3]!, authorization });
    else if (api)
      this.#api(response, {
        key: api[1]!,
        what: api[2] ?? "revision",
        revision: api[3] ?? "main",
        url,
        authorization,
      });
    else if (file) {
      const key = `${file[1] ?? "models/"}${file[2]}`;
      this.#file(request, response, { key, revision: file[3]!, path: file[4]!, authorization, broken });
    } else if (path.startsWith("/lfs/")) this.#stored(request, response, { digest: path.slice(5), broken });
    else refuse(response, 404, "RepoNotFound");
  }

  /** The repository at a revision; undefined after refusing. */
  #open(response: ServerResponse, at: { key: string; revision: string; authorization: string | undefined }) {
    const repository = this.#repositories.get(at.key);
    const allowed = at.authorization === `Bearer ${this.#token}`;
    if (!repository) return refuse(response, 404, "RepoNotFound");
    if (repository.closed && !allowed) return refuse(response, at.authorization ? 403 : 401, "GatedRepo");
    const named = ["main", "HEAD"].includes(at.revision);
    const commit = named ? repository.commits[0] : repository.commits.find(({ sha }) => sha === at.revision);
    if (!commit) return refuse(response, 404, "RevisionNotFound");
    return { repository, commit };
  }

  #api(
    response: ServerResponse,
    at: { key: string; what: string; revision: string; url: URL; authorization: string | undefined },
  ): void {
    const open = this.#open(response, at);
    if (!open) return;
    const { repository, commit } = open;
    const send = (value: unknown, headers = {}) =>
      response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    if (at.what === "revision") {
      const siblings = [...commit.files.keys()].map((rfilename) => ({ rfilename }));
      send({
        _id: "1",
        id: repository.name,
        sha: commit.sha,
        private: false,
        gated: repository.gated,
        downloads: 0,
        likes: 0,
        tags: [],
        lastModified: commit.date,
        createdAt: repository.createdAt,
        ...(repository.parameters !== undefined && { safetensors: { total: repository.parameters } }),
        cardData: commit.card,
        siblings,
      });
    } else if (at.what === "commits") {
      send(
        repository.commits.map(({ sha, date }) => ({ id: sha, title: "t", message: "", authors: [], date })),
      );
    } else {
      const all = [...commit.files].map(([path, file]) => treeEntry(path, file));
      const folders = [
        ...new Set(
          all.flatMap(({ path }) =>
            path
              .split("/")
              .slice(0, -1)
              .map((_, depth, parts) => parts.slice(0, depth + 1).join("/")),
          ),
        ),
      ];
      const entries = [
        ...folders.map((path) => ({ type: "directory", path, size: 0, oid: sha1(path) })),
        ...all,
      ];
      const from = Number(at.url.searchParams.get("cursor") ?? 0);
      at.url.searchParams.set("cursor", String(from + treePage));
      const more = from + treePage < entries.length;
      send(entries.slice(from, from + treePage), more ? { link: `<${at.url}>; rel="next"` } : {});
    }
  }

  /** Facts of named files. The last commit of one is the oldest with the same content as at the revision. */
  async #paths(
    request: IncomingMessage,
    response: ServerResponse,
    at: { key: string; revision: string; authorization: string | undefined },
  ): Promise<void> {
    const { paths, expand } = (await json(request)) as { paths: string[]; expand?: boolean };
    const open = this.#open(response, at);
    if (!open) return;
    const { commits } = open.repository;
    const entries = paths.flatMap((path) => {
      const file = open.commit.files.get(path);
      if (!file) return [];
      const earlier = commits.slice(commits.indexOf(open.commit));
      const changed = earlier.findIndex((one) => !one.files.get(path)?.content.equals(file.content));
      const { sha, date } = earlier.at(changed === -1 ? -1 : changed - 1)!;
      return [{ ...treeEntry(path, file), ...(expand && { lastCommit: { id: sha, title: "t", date } }) }];
    });
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(entries));
  }

  #file(
    request: IncomingMessage,
    response: ServerResponse,
    at: { key: string; revision: string; path: string; authorization: string | undefined; broken: Broken },
  ): void {
    const open = this.#open(response, at);
    if (!open) return;
    const file = open.commit.files.get(at.path);
    if (!file) {
      refuse(response, 404, "EntryNotFound");
      return;
    }
    response.setHeader("X-Repo-Commit", open.commit.sha);
    if (!file.lfs) {
      response.setHeader("ETag", `"${blobHash(file.content)}"`);
      sendContent(request, response, file.content, at.broken);
      return;
    }
    const digest = sha256(file.content);
    response.setHeader("X-Linked-Size", file.content.length);
    response.setHeader("X-Linked-ETag", `"${digest}"`);
    response.writeHead(302, { location: `${this.endpoint}/lfs/${digest}` }).end();
  }

  #stored(request: IncomingMessage, response: ServerResponse, at: { digest: string; broken: Broken }): void {
    const files = [...this.#repositories.values()].flatMap(({ commits }) =>
      commits.flatMap((one) => [...one.files.values()]),
    );
    const file = files.find(({ content }) => sha256(content) === at.digest);
    if (!file) refuse(response, 404, "EntryNotFound");
    else sendContent(request, response.setHeader("ETag", `"${at.digest}"`), file.content, at.broken);
  }
}

function treeEntry(path: string, { content, lfs }: HubFile) {
  if (!lfs) return { type: "file", path, size: content.length, oid: blobHash(content) };
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(content)}\nsize ${content.length}\n`;
  const about = { oid: sha256(content), size: content.length, pointerSize: pointer.length };
  return { type: "file", path, size: content.length, oid: blobHash(Buffer.from(pointer)), lfs: about };
}

function sendContent(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
  broken: Broken,
): void {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
  const begin = Number(from ?? 0);
  const part = from === undefined ? content : content.subarray(begin, to ? Number(to) + 1 : undefined);
  if (from !== undefined && begin >= content.length && content.length > 0) {
    response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
    return;
  }
  const range = { "content-range": `bytes ${begin}-${begin + part.length - 1}/${content.length}` };
  response.writeHead(from === undefined ? 200 : 206, {
    "accept-ranges": "bytes",
    "content-length": part.length,
    ...(from !== undefined && range),
  });
  if (request.method === "HEAD") response.end();
  else if (broken)
    response.write(part.subarray(0, part.length / 2), () => broken === "cut" && response.destroy());
  else response.end(part);
}

function refuse(response: ServerResponse, status: number, code: string): undefined {
  response.writeHead(status, { "content-type": "application/json", "X-Error-Code": code });
  response.end(JSON.stringify({ error: code }));
}

function sha1(text: string | Buffer): string {
  return createHash("sha1").update(text).digest("hex");
}

function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** As git names a file's content. */
export function blobHash(content: Buffer): string {
  return sha1(Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]));
}
