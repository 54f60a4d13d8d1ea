// Reads the files of a repository for core, and remembers digests of files by their stat. The next digest then
// costs a stat and not a read.
import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join, posix } from "node:path";
import type { Sources } from "@mlrb/core/spec/manifest";
import { syntaxAnswer } from "@mlrb/formats/stage/python-answers";
import { Consulted, isFileStat, type Looks, lookAt, whole } from "../decide/consulted-files.ts";
import { ifReadable } from "../store/if-readable.ts";
import { MemoryFile } from "../store/memory-file.ts";
import { askPython } from "./ask-python.ts";

export function sourceFiles(root: string, consulted = new Consulted(root)): Sources {
  const texts = new Map<string, string | undefined>();
  return {
    read(path) {
      consulted.file(path);
      return texts.getOrInsertComputed(path, () => ifReadable(() => readText(join(root, path))));
    },
    list(folder) {
      return consulted.folder(folder);
    },
    kind(path) {
      const kind = consulted.kind(path);
      return kind === "missing" ? undefined : kind === "folder" ? "dir" : "file";
    },
  };
}

type Remembered = {
  files: Record<string, { stat: string; digest: string }>;
  /** Digest of a Python file's bytes → digest of its syntax tree, so that a newer Python makes no result stale. */
  syntax: Record<string, string>;
};

/** Digests of source files, remembered across runs. A file touched within the last second is read again. */
export class FileDigests {
  readonly #root: string;
  readonly #memory: string;
  readonly #known: MemoryFile<Remembered>;
  readonly consulted: Consulted;

  constructor(root: string, memory: string, consulted = new Consulted(root)) {
    this.#root = root;
    this.consulted = consulted;
    this.#memory = memory;
    this.#known = new MemoryFile(join(memory, "files.json"), 1, { files: {}, syntax: {} });
  }

  /**
   * Returns the digests of the files that match the patterns, by path from the root in code-unit order. A Python
   * file's digest is of its syntax tree, other digests are of the bytes. `looks`: recent stats by path, so that no
   * file is checked twice.
   */
  ofPatterns(patterns: string[], looks?: Looks): Record<string, string> {
    const paths = new Set<string>();
    for (const pattern of patterns) {
      for (const path of this.consulted.pattern(pattern)) paths.add(path);
    }
    return this.#throughSyntax(
      Object.fromEntries([...paths].sort().map((path) => [path, this.of(path, looks)])),
    );
  }

  /**
   * Returns a stage's declared files, each with its bytes and executable bit; for a folder (`FOLDER/**`), all
   * files that its script can read. A Python file counts by its bytes too: what declares it may read its text.
   */
  ofDeclared(patterns: string[], looks?: Looks): Record<string, string> {
    const paths = new Set(patterns.flatMap((pattern) => this.consulted.pattern(declared(pattern))));
    return Object.fromEntries(
      [...paths].sort().map((path) => {
        const look = looks?.has(path) ? looks.get(path) : lookAt(this.#root, path);
        return [path, `${this.of(path, new Map([[path, look]]))}${look?.executable ? " executable" : ""}`];
      }),
    );
  }

  /**
   * Returns the files that an agent gets, by path from the root. For a folder (`FOLDER/**`): every entry with its
   * bytes, executable bit and link target. For other patterns: the bytes of the files. Throws CannotHandOver.
   */
  ofHandedOver(patterns: string[]): Record<string, string> {
    const found: Record<string, string> = {};
    const folders = patterns.flatMap((pattern) => wholeFolder(pattern) ?? []);
    for (const pattern of patterns) {
      if (wholeFolder(pattern) !== undefined) continue;
      for (const path of this.consulted.pattern(pattern)) found[path] = this.of(path);
    }
    for (const folder of folders) {
      for (const entry of this.consulted.handedOver(folder)) {
        const path = `${folder}/${entry.path}`;
        if (entry.kind === "folder") found[`${path}/`] = "folder";
        else if (entry.kind === "link") found[path] = `link to ${entry.target}`;
        else found[path] = `${this.of(path)}${entry.executable ? " executable" : ""}`;
      }
    }
    return Object.fromEntries(
      Object.keys(found)
        .sort()
        .map((path) => [path, found[path]!]),
    );
  }

  /** Replaces the digests of Python files by those of their syntax trees, where a file parses. */
  #throughSyntax(digests: Record<string, string>): Record<string, string> {
    const { syntax } = this.#known.value;
    const python = Object.keys(digests).filter((path) => path.endsWith(".py") && digests[path] !== "missing");
    const unknown = python.filter((path) => syntax[digests[path]!] === undefined);
    if (unknown.length > 0) {
      const paths = unknown.map((path) => join(this.#root, path));
      const found = askPython("syntax_digest.py", paths, { schema: syntaxAnswer, memory: this.#memory });
      for (const path of unknown) {
        const digest = found?.[join(this.#root, path)];
        // the bytes may have changed since they were hashed: remember only a pair that belongs together
        if (digest && this.of(path) === digests[path]) syntax[digests[path]!] = digest;
      }
      this.#known.change();
    }
    for (const path of python) digests[path] = syntax[digests[path]!] ?? digests[path]!;
    return digests;
  }

  /** Returns the sha256 of a file's bytes, or "missing". */
  of(path: string, looks?: Looks): string {
    this.consulted.file(path);
    const { files } = this.#known.value;
    const absolute = join(this.#root, path);
    const look = looks?.has(path) ? looks.get(path) : lookAt(this.#root, path);
    if (!look) return "missing";
    const held = files[path];
    if (held?.stat === look.stat) return held.digest;
    const digest = hash("sha256", readSource(absolute, path));
    if (!look.fresh) {
      files[path] = { stat: look.stat, digest };
      this.#known.change();
    }
    return digest;
  }

  /** Returns the sha256 of each regular file of the repository whose stat is still the given one, by its path. */
  ofSeen(stats: Readonly<Record<string, string>>): Record<string, string> {
    const digests: Record<string, string> = {};
    for (const [path, stat] of Object.entries(stats)) {
      if (isAbsolute(path) || !isFileStat(stat)) continue;
      const digest = ifReadable(() => this.of(path));
      // the file may have changed while it was read, or in the run and a stage used the change: then no digest
      // lets a later run with the old bytes pass for this one
      if (digest !== undefined && lookAt(this.#root, path)?.stat === stat) digests[path] = digest;
    }
    this.save();
    return digests;
  }

  save(): void {
    this.#known.save();
  }
}

/** Throws on a pipe or a device, which could block for ever. */
function readText(path: string): string {
  refuseUnusual(path);
  return readFileSync(path, "utf8");
}

function refuseUnusual(path: string): void {
  const stats = statSync(path);
  if (!stats.isFile() && !stats.isDirectory())
    throw new Error("it is a pipe, a socket or a device, not a file");
}

/** Throws an error with the file's name, because a system error may lack the name. */
function readSource(absolute: string, path: string): Buffer {
  try {
    refuseUnusual(absolute);
    return readFileSync(absolute);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why =
      code === "EISDIR"
        ? `it is a folder; name its files, for example ${path}/**`
        : message.replace(/, \w+ '.*$/, "");
    throw new Error(`${path} cannot be read: ${why}`, { cause: error });
  }
}

/** Returns the pattern that finds the files of a stage that is not an attempt. */
export function declared(pattern: string): string {
  const folder = wholeFolder(pattern);
  return folder === undefined ? pattern : `${folder}/${whole}`;
}

/** Returns the folder that a pattern declares whole (`FOLDER/**`), or undefined for other patterns. */
export function wholeFolder(pattern: string): string | undefined {
  return /^([^*?[{]+)\/\*\*$/.exec(posix.normalize(pattern))?.[1];
}
