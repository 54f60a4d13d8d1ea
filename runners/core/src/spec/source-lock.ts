// Reads sources.lock.yaml, and decides whether its entry of a source still belongs to the source as it is
// declared. Pure: files come from `sources`.
import type { SourceManifest } from "@mlrb/formats/declared/source";
import { type LockedSource, type SourceLock, sourceLock } from "@mlrb/formats/declared/source-lock";
import { checkFormat } from "@mlrb/formats/read-format";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { parseYaml, type YamlSource } from "../yaml/yaml-source.ts";

export const sourceLockFile = "sources.lock.yaml";

/** An entry is outdated if the source has another repository, commit or other files than when it was locked. */
export type LockState =
  | { kind: "unresolved" }
  | { kind: "outdated"; cause: string; entry: LockedSource }
  | { kind: "resolved"; entry: LockedSource };

type Read = YamlSource<SourceLock> | Diagnostic[];

/** Each source of a plan asks for the same text, and a list of all files takes long to parse. */
let last: { text: string; read: Read } | undefined;

/** The whole lock; undefined if there is no such file. */
export function readSourceLock(sources: { read(path: string): string | undefined }): Read | undefined {
  const text = sources.read(sourceLockFile);
  if (text === undefined) return undefined;
  if (last?.text !== text) {
    const source = parseYaml(sourceLockFile, text);
    last = { text, read: Array.isArray(source) ? source : checked(source) };
  }
  return last.read;
}

/** A program wrote the file, so the first fault is enough. */
function checked(source: YamlSource): Read {
  const reading = checkFormat(sourceLock, source.value);
  if (reading.kind === "ok") return { ...source, value: reading.value };
  return [
    {
      code: "bad-lock",
      message: reading.cause,
      place: source.place(["sources"], "key"),
      help: "take the file from version control again; or remove it, and `pnpm pipeline sources lock` writes it",
    },
  ];
}

export function lockState(manifest: SourceManifest, lock: SourceLock | undefined): LockState {
  const { name, repository, type, revision = "", files = [] } = manifest;
  const found = lock && Object.hasOwn(lock.sources, name) ? lock.sources[name]! : undefined;
  if (found === undefined || found.kind === "unresolved") return { kind: "unresolved" };
  const { kind: _, ...entry } = found;
  const outdated = (cause: string): LockState => ({ kind: "outdated", cause, entry });
  if (entry.repository !== repository || entry.type !== type)
    return outdated(`it was locked for the ${entry.type} ${entry.repository}`);
  if (!entry.revision.startsWith(revision)) return outdated(`it was locked at commit ${entry.revision}`);
  if (entry.patterns.join("\n") !== files.join("\n")) return outdated("other files were locked");
  return { kind: "resolved", entry };
}
