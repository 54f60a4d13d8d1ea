// Parses `image:` and gives its identity for action keys. A reference must name the same programs tomorrow: this
// host, a Dockerfile with pinned bases, or a digest. Pure: callers pass the digests of the files, so that a key
// needs no container engine.
import { hash } from "node:crypto";

export type ImageReference =
  /** No image: the host's own system folders, read-only. */
  | { kind: "host" }
  /** Built from a file of the repository with its folder as context. Both are relative to the root. */
  | { kind: "dockerfile"; file: string; folder: string }
  | { kind: "digest"; name: string; digest: string };

export type ImageRefusal = { kind: "refused"; message: string; help: string };

const help =
  "name `host`, a Dockerfile of the repository (e.g. `images/tools/Dockerfile`) or an image by digest " +
  "(e.g. `debian@sha256:…`, as `docker image inspect --format '{{index .RepoDigests 0}}' debian:12` prints it)";

export function parseImageReference(text: string): ImageReference | ImageRefusal {
  const refused = (message: string): ImageRefusal => ({ kind: "refused", message, help });
  if (text === "host") return { kind: "host" };
  const pinned = /^([a-z0-9][\w./:-]*)@(sha256:[0-9a-f]{64})$/.exec(text);
  if (pinned) return { kind: "digest", name: pinned[1]!, digest: pinned[2]! };
  if (text.includes("@"))
    return refused(`"${text}" is not an image by digest: \`NAME@sha256:\` and 64 hex digits`);
  const parts = text.split("/");
  if (/^(Dockerfile|Containerfile)(\.[\w.-]+)?$|^[\w.-]+\.(Dockerfile|Containerfile)$/.test(parts.at(-1)!)) {
    if (text.startsWith("/") || parts.some((part) => part === ".." || part === "." || part === ""))
      return refused(`"${text}" is not a plain path below the repository's root`);
    if (parts.length === 1)
      return refused(`"${text}" has the whole repository as its context; put it into a folder of its own`);
    return { kind: "dockerfile", file: text, folder: parts.slice(0, -1).join("/") };
  }
  return refused(`"${text}" is not pinned to a digest`);
}

/** Version of the layout of a host image. A changed layout is another image. */
const hostVersion = 1;

/**
 * The identity of an image in keys. `files` are the digests of everything in the folder of a Dockerfile, by path
 * relative to the root; other references ignore them.
 */
export function imageIdentity(reference: ImageReference, files: Record<string, string> = {}): string {
  switch (reference.kind) {
    case "host":
      return `host:${hostVersion}`;
    case "digest":
      return `${reference.name}@${reference.digest}`;
    case "dockerfile": {
      if (files[reference.file] === undefined) throw new Error(`bug: no digest of ${reference.file}`);
      const inside = Object.entries(files).filter(([path]) => path.startsWith(`${reference.folder}/`));
      const sorted = inside.sort(([a], [b]) => (a < b ? -1 : 1));
      return `dockerfile:${hash("sha256", JSON.stringify([reference.file, sorted]))}`;
    }
  }
}

/** The unpinned bases of a Dockerfile: neither `scratch`, nor a digest, nor an earlier build step. */
export function unpinnedBases(dockerfile: string): string[] {
  const steps = new Set(["scratch"]);
  const unpinned: string[] = [];
  for (const line of dockerfile.replace(/\\\r?\n/g, " ").split("\n")) {
    const from = /^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(line);
    if (from) {
      const [, base, step] = from;
      if (!steps.has(base!.toLowerCase()) && !isPinned(base!)) unpinned.push(base!);
      if (step) steps.add(step.toLowerCase());
    }
    const other = /^\s*(?:COPY|ADD)\s.*--from=(\S+)/i.exec(line)?.[1];
    if (other && !/^\d+$/.test(other) && !steps.has(other.toLowerCase()) && !isPinned(other))
      unpinned.push(other);
  }
  return unpinned;
}

function isPinned(name: string): boolean {
  return /@sha256:[0-9a-f]{64}$/.test(name);
}
