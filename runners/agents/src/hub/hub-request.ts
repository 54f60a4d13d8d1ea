// What a request of an agent asks for. Everything that is not listed here is refused. A path is decoded once and
// built anew for the server, so no trick in it reaches one.
import { quiet } from "@mlrb/kit/processes/process-table";

export type Repository = { type: "model" | "dataset"; id: string };

export type HubRequest =
  /** A file of a repository on the hub. */
  | { kind: "hub-file"; repository: Repository; revision: string; path: string }
  /** Facts of a repository: its commit, the names of its files. `below`: the rest of the address. */
  | { kind: "hub-facts"; repository: Repository; below: string[]; query: URLSearchParams }
  | { kind: "hub-paths"; repository: Repository; revision: string }
  | { kind: "hub-search"; type: Repository["type"]; query: URLSearchParams }
  | { kind: "package"; name: string }
  | { kind: "package-file"; name: string; file: string; metadata: boolean }
  /** All files of a code repository at a branch, tag or commit, as .tar.gz. */
  | { kind: "code"; id: string; ref: string };

/** No name on a hub begins with a dash. */
export const besideHub = "-";

const owned = /^[A-Za-z0-9][\w.-]{0,95}$/;
const packageName = /^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$/i;
const fileName = /^[A-Za-z0-9][\w.+!-]{0,250}$/;
const asked = /^(?:recursive|expand|cursor|limit|search|author|filter|sort|direction)$/;

/** Undefined for anything else. */
export function hubRequest(method: string, url: string): HubRequest | undefined {
  const parts = pathParts(url);
  if (parts === undefined) return undefined;
  const { segments, query } = parts;
  const [first, ...rest] = segments;
  if (first === "api") return apiRequest(method, rest, query);
  if (method !== "GET" && method !== "HEAD") return undefined;
  if (first === besideHub) return besideRequest(rest);
  const type = first === "datasets" ? "dataset" : "model";
  const named = type === "dataset" ? rest : segments;
  const at = named.indexOf("resolve");
  const repository = at < 1 || at > 2 ? undefined : repositoryOf(type, named.slice(0, at));
  const [revision, ...path] = named.slice(at + 1);
  if (!repository || revision === undefined || !isRevision(revision) || path.length === 0) return undefined;
  return { kind: "hub-file", repository, revision, path: path.join("/") };
}

/** Decoded once. Undefined for a path with an empty part, a step up, or a character that no name has. */
function pathParts(url: string): { segments: string[]; query: URLSearchParams } | undefined {
  const [, path, query = ""] = /^\/([^?#]*)(?:\?([^#]*))?$/.exec(url) ?? [];
  if (path === undefined || url.length > 4000) return undefined;
  const segments: string[] = [];
  for (const part of path.replace(/\/$/, "").split("/")) {
    const segment = quiet(() => decodeURIComponent(part));
    if (!segment || segment === "." || segment === ".." || /[\\\p{Cc}\p{Cf}?#%]/u.test(segment))
      return undefined;
    segments.push(segment);
  }
  // of all names only a revision's may hold a slash: refs/convert/parquet
  if (segments.some((one) => one.includes("/") && !isRevision(one))) return undefined;
  const kept = [...new URLSearchParams(query)].filter(
    ([key, value]) => asked.test(key) && value.length <= 500,
  );
  return { segments, query: new URLSearchParams(kept) };
}

function isRevision(text: string): boolean {
  return /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*){0,3}$/.test(text) && text.length <= 200;
}

/** Old repositories have no owner. */
function repositoryOf(type: Repository["type"], names: string[]): Repository | undefined {
  return names.every((name) => owned.test(name)) ? { type, id: names.join("/") } : undefined;
}

function apiRequest(
  method: string,
  [kind, ...names]: string[],
  query: URLSearchParams,
): HubRequest | undefined {
  if (kind !== "models" && kind !== "datasets") return undefined;
  const type = kind === "models" ? "model" : "dataset";
  const reads = method === "GET" || method === "HEAD";
  if (names.length === 0) return reads ? { kind: "hub-search", type, query } : undefined;
  const at = names.findIndex((name) => ["revision", "tree", "refs", "commits", "paths-info"].includes(name));
  const [id, below] = at < 0 ? [names, []] : [names.slice(0, at), names.slice(at)];
  const repository = id.length < 1 || id.length > 2 ? undefined : repositoryOf(type, id);
  const [what, revision, ...more] = below;
  if (!repository || (revision !== undefined && !isRevision(revision))) return undefined;
  if (what !== "paths-info") return reads ? { kind: "hub-facts", repository, below, query } : undefined;
  const isPaths = method === "POST" && revision !== undefined && more.length === 0;
  return isPaths ? { kind: "hub-paths", repository, revision } : undefined;
}

function besideRequest([service, ...rest]: string[]): HubRequest | undefined {
  if (service === "simple" && rest.length === 1 && packageName.test(rest[0]!))
    return { kind: "package", name: normalName(rest[0]!) };
  if (service === "packages" && rest.length === 2 && packageName.test(rest[0]!) && fileName.test(rest[1]!)) {
    const metadata = rest[1]!.endsWith(".metadata");
    const file = metadata ? rest[1]!.slice(0, -".metadata".length) : rest[1]!;
    return { kind: "package-file", name: normalName(rest[0]!), file, metadata };
  }
  if (service === "github" && rest.length === 4 && rest[2] === "tar.gz" && isRevision(rest[3]!)) {
    const repository = repositoryOf("model", rest.slice(0, 2));
    return repository && { kind: "code", id: repository.id, ref: rest[3]! };
  }
  return undefined;
}

/** As the package index compares names. */
function normalName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}

/** A path of an address, each part encoded. */
export function encodedPath(segments: string[]): string {
  return segments.map(encodeURIComponent).join("/");
}
