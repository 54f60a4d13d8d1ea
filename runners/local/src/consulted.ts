// What a run looked at in the repository while deciding, as it looked then: files, folders, patterns. If
// all of it looks the same at the next run, so does the decision; see unchanged.
import { globSync, readdirSync, statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";

export class Consulted {
  readonly #root: string;
  /** Stat by path. */
  readonly files = new Map<string, string>();
  readonly folders = new Map<string, string[]>();
  readonly patterns = new Map<string, string[]>();
  /** Whether some file could still change without its stat moving. */
  fresh = false;

  constructor(root: string) {
    this.#root = root;
  }

  /** To be called before the file is read: a change in between is then seen next time. */
  file(path: string): void {
    if (this.files.has(path)) return;
    const look = lookAt(this.#root, path);
    this.files.set(path, look?.stat ?? "missing");
    if (look?.fresh) this.fresh = true;
  }

  /** The names in a folder, in code-unit order. */
  folder(path: string): string[] {
    const names = namesIn(this.#root, path);
    this.folders.set(path, names);
    return names;
  }

  /** The files that match a pattern. */
  pattern(pattern: string): string[] {
    const held = this.patterns.get(pattern);
    if (held) return held;
    const files = filesMatching(this.#root, pattern);
    this.patterns.set(pattern, files);
    for (const path of files) this.file(path);
    return files;
  }
}

/** Left behind by interpreters and editors; never part of what runs. */
const ignored = /^(__pycache__|node_modules|\.git|\.ruff_cache|\.DS_Store)$|\.pyc$|~$/;

/** Files below `root` that match, as paths from it, in code-unit order. */
export function filesMatching(root: string, pattern: string): string[] {
  if (!/[*?[{]/.test(pattern)) return [pattern];
  return globSync(pattern, { cwd: root, withFileTypes: true, exclude: (entry) => ignored.test(entry.name) })
    .filter((entry) => entry.isFile() && !ignored.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** What tells a file from another of the same name, and whether that can be trusted. */
export type Look = {
  stat: string;
  /** Written within the last second: it may change again without its stat moving. */
  fresh: boolean;
};

/** `path` is from `root`, or absolute; undefined where there is no such file. */
export function lookAt(root: string, path: string): Look | undefined {
  const stats = statSync(isAbsolute(path) ? path : join(root, path), { bigint: true, throwIfNoEntry: false });
  if (!stats) return undefined;
  const { size, mtimeNs, ino, mode } = stats;
  const fresh = Date.now() - Number(mtimeNs / 1_000_000n) <= 1000;
  return { stat: `${size} ${mtimeNs} ${ino} ${mode}`, fresh };
}

/** The file's stat as text; "missing" where there is none. */
export function statText(root: string, path: string): string {
  return lookAt(root, path)?.stat ?? "missing";
}

export function namesIn(root: string, folder: string): string[] {
  try {
    return readdirSync(join(root, folder)).sort();
  } catch {
    return [];
  }
}
