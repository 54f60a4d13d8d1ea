// Reads the files of a repository for core, and remembers the digests of files by their stat, so that
// asking again costs a stat and not a read.
import { createHash } from "node:crypto";
import { globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { Sources } from "@mlrb/core/manifest";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";

export function sourceFiles(root: string): Sources {
  const texts = new Map<string, string | undefined>();
  return {
    read(path) {
      if (!texts.has(path)) {
        let text: string | undefined;
        try {
          text = readFileSync(join(root, path), "utf8");
        } catch {
          text = undefined;
        }
        texts.set(path, text);
      }
      return texts.get(path);
    },
    list(folder) {
      try {
        return readdirSync(join(root, folder)).sort();
      } catch {
        return [];
      }
    },
  };
}

type Remembered = Record<string, { stat: string; digest: string }>;

/** Digests of source files, remembered over runs. A file touched within the last second is read again. */
export class FileDigests {
  readonly #root: string;
  readonly #file: string;
  #known: Remembered | undefined;
  #changed = false;

  constructor(root: string, memory: string) {
    this.#root = root;
    this.#file = join(memory, "files.json");
  }

  /** Files that match the patterns, as paths from the root, in code-unit order, with their digests. */
  ofPatterns(patterns: string[]): Record<string, string> {
    const paths = new Set<string>();
    for (const pattern of patterns) {
      const found = /[*?[{]/.test(pattern)
        ? globSync(pattern, {
            cwd: this.#root,
            withFileTypes: true,
            exclude: (entry) => ignored.test(entry.name),
          })
            .filter((entry) => entry.isFile() && !ignored.test(entry.name))
            .map((entry) => relative(this.#root, join(entry.parentPath, entry.name)))
        : [pattern];
      for (const path of found) paths.add(path);
    }
    return Object.fromEntries([...paths].sort().map((path) => [path, this.of(path)]));
  }

  /** sha256 of a file's bytes; "missing" where there is none. */
  of(path: string): string {
    this.#known ??= this.#load();
    const absolute = join(this.#root, path);
    let stats: ReturnType<typeof statOf>;
    try {
      stats = statOf(absolute);
    } catch {
      return "missing";
    }
    const held = this.#known[path];
    if (held?.stat === stats.text) return held.digest;
    const digest = createHash("sha256").update(readFileSync(absolute)).digest("hex");
    // a file of this very moment could change again without its stat moving
    if (Date.now() - stats.mtimeMs > 1000) {
      this.#known[path] = { stat: stats.text, digest };
      this.#changed = true;
    }
    return digest;
  }

  save(): void {
    if (!this.#changed || !this.#known) return;
    writeWhole(this.#file, canonicalJson({ formatVersion: 1, files: this.#known }));
    this.#changed = false;
  }

  #load(): Remembered {
    try {
      return (JSON.parse(readFileSync(this.#file, "utf8")) as { files: Remembered }).files;
    } catch {
      return {};
    }
  }
}

/** Left behind by interpreters and editors; never part of what runs. */
const ignored = /^(__pycache__|node_modules|\.git|\.ruff_cache|\.DS_Store)$|\.pyc$|~$/;

function statOf(path: string): { text: string; mtimeMs: number } {
  const { size, mtimeNs, ino, mode } = statSync(path, { bigint: true });
  return { text: `${size} ${mtimeNs} ${ino} ${mode}`, mtimeMs: Number(mtimeNs / 1_000_000n) };
}
