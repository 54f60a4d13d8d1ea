// Records the files, folders and patterns of the repository that a run consults while deciding, with their stats.
// If none of them has changed at the next run, the decision is the same; see no-op-fast-path.
import {
  type BigIntStats,
  constants,
  type Dirent,
  globSync,
  lstatSync,
  readdirSync,
  realpathSync,
  statSync,
} from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { globFolder, isGlob } from "@mlrb/core/text/glob";
import { CannotHandOver, type HandedOver, handedOver } from "@mlrb/kit/attempts/handed-over";
import { ifReadable } from "../store/if-readable.ts";

/** What a decision consulted, as it was then. */
export type StatSnapshot = {
  /** Stat by path from the repository's root, or absolute; the kind ("file", "folder") where only that was consulted. */
  stats: Record<string, string>;
  folders: Record<string, string[]>;
  patterns: Record<string, string[]>;
};

export class Consulted {
  readonly #root: string;
  /** Stat by path, or kind. */
  readonly files = new Map<string, string>();
  readonly folders = new Map<string, string[]>();
  readonly patterns = new Map<string, string[]>();
  /** Whether a consulted file was written within the last second: it could change without a change of its stat. */
  fresh = false;
  /** By the path of a program that gave data: the digest of its data. The program may have read any file. */
  readonly programs = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** What an earlier process consulted, and what is still so: see looksTheSame. */
  sawBefore({ stats, folders, patterns }: StatSnapshot): void {
    for (const [path, stat] of Object.entries(stats)) this.files.set(path, stat);
    for (const [folder, names] of Object.entries(folders)) this.folders.set(folder, names);
    for (const [pattern, files] of Object.entries(patterns)) this.patterns.set(pattern, files);
  }

  /** Must be called before the file is read, so that the next run notices a change in between. */
  file(path: string): void {
    const held = this.files.get(path);
    if (held !== undefined && !isKind(held)) return;
    const look = lookAt(this.#root, path);
    this.files.set(path, look?.stat ?? "missing");
    if (look?.fresh) this.fresh = true;
  }

  /**
   * Returns what is at the path, and records only that, for a decision that no content changes: a plan names
   * scripts and folders, and reads neither. Names in a folder would not do: a missing folder has none either.
   */
  kind(path: string): Kind | "missing" {
    const kind = kindAt(this.#root, path);
    if (!this.files.has(path)) this.files.set(path, kind);
    return kind;
  }

  /** Records the stats of files of which only the kind was consulted: `watch` also waits for their edits. */
  statKinds(): void {
    for (const [path, stat] of this.files) if (stat === "file") this.file(path);
  }

  /** The names in a folder, in code-unit order. */
  folder(path: string): string[] {
    const names = namesIn(this.#root, path);
    this.folders.set(path, names);
    return names;
  }

  pattern(pattern: string): string[] {
    const held = this.patterns.get(pattern);
    if (held) return held;
    const files = filesMatching(this.#root, pattern);
    this.patterns.set(pattern, files);
    for (const path of files) if (!path.endsWith("/") && !path.includes("\0")) this.file(path);
    return files;
  }

  /** Returns all entries of a folder that an agent gets, or none if the folder is missing. Throws CannotHandOver. */
  handedOver(folder: string): HandedOver[] {
    this.pattern(`${folder}/${all}`);
    try {
      return entriesIn(join(this.#root, folder));
    } catch (error) {
      if (!(error instanceof CannotHandOver)) throw error;
      throw new CannotHandOver(error.message.replace(`${this.#root}/`, "")); // reports hold no absolute paths
    }
  }
}

/** Suffix of a pattern for all entries of a folder that an agent gets: more than a glob matches. */
const all = "***";

/**
 * Returns links as `path\0target` and folders as `path/`. A folder that cannot be listed becomes one entry with
 * the error.
 */
function filesHandedOver(root: string, folder: string): string[] {
  try {
    return entriesIn(join(root, folder))
      .map((entry) => `${folder}/${entry.path}${mark(entry)}`)
      .sort();
  } catch (error) {
    return [`${folder}/\0${(error as Error).message}`];
  }
}

function mark(entry: HandedOver): string {
  return entry.kind === "folder" ? "/" : entry.kind === "link" ? `\0${entry.target}` : "";
}

function entriesIn(folder: string): HandedOver[] {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? handedOver(folder) : [];
}

/** Suffix of a pattern for all files that a stage may read in a folder that is declared whole. */
export const whole = "****";

type Below = { files: string[]; folders: string[] };

/**
 * Files and folders at and below a folder, including links and dotfiles. A glob matches neither, but a script that
 * may read the folder reads both.
 */
function allBelow(
  root: string,
  folder: string,
  into: Below = { files: [], folders: [] },
  above: string[] = [],
) {
  let real: string;
  let entries: Dirent[];
  try {
    real = realpathSync(join(root, folder));
    if (above.includes(real)) return into; // a link to a folder above
    entries = readdirSync(join(root, folder), { withFileTypes: true });
  } catch {
    return into;
  }
  into.folders.push(folder);
  for (const entry of entries) {
    if (isLeftBehind(entry.name)) continue;
    const path = folder === "." ? entry.name : `${folder}/${entry.name}`;
    // a link may dangle, or lead to itself
    const kind = entry.isSymbolicLink() ? ifReadable(() => statSync(join(root, path))) : entry;
    if (kind?.isDirectory()) allBelow(root, path, into, [...above, real]);
    else if (kind?.isFile()) into.files.push(path);
  }
  return into;
}

/** Files that interpreters, tools and editors leave behind; never part of a stage. */
const ignored =
  /^(__pycache__|node_modules|\.git|\.(ruff|pytest|mypy)_cache|\.ipynb_checkpoints|\.DS_Store)$|\.pyc$|~$|^\..*\.sw[a-z]$|^\.#|^#.*#$/;

export function isLeftBehind(name: string): boolean {
  return ignored.test(name);
}

/**
 * Returns the folders whose entries a pattern depends on, each with the pattern that names in it must match;
 * undefined: every name counts. Returns none for a plain path: a file that was replaced and put back has another
 * stat.
 */
export function foldersOfPattern(
  root: string,
  pattern: string,
): { folder: string; names: string | undefined }[] {
  if (!isGlob(pattern)) return [];
  const above = globFolder(pattern) || ".";
  const [folder, names] = [pattern.slice(0, pattern.lastIndexOf("/") + 1), pattern.split("/").at(-1)!];
  if (!isGlob(folder) && !names.startsWith("**")) return [{ folder: above, names }];
  return allBelow(root, above).folders.map((folder) => ({ folder, names: undefined }));
}

/** The pattern of the runner's own sources without its tests. */
export const runnerSources = "runners/*/src/**/*.{ts,mjs,py,json} without tests";

/** A glob takes ten times as long, and every no-op lists these files. */
function runnerSourceFiles(root: string): string[] {
  const folders = namesIn(root, "runners").map((name) => join(root, "runners", name, "src"));
  const above = join(root, "/").length;
  return folders
    .flatMap(
      (folder) => ifReadable(() => readdirSync(folder, { recursive: true, withFileTypes: true })) ?? [],
    )
    .filter((entry) => entry.isFile() && /\.(ts|mjs|py|json)$/.test(entry.name))
    .filter(({ name }) => !/(\.test\.ts|^test_.*\.py)$/.test(name))
    .map((entry) => `${entry.parentPath.slice(above)}/${entry.name}`)
    .sort();
}

/** Returns the matching files below `root`, as paths from `root`, in code-unit order. */
export function filesMatching(root: string, pattern: string): string[] {
  if (pattern === runnerSources) return runnerSourceFiles(root);
  if (pattern.endsWith(`/${all}`)) return filesHandedOver(root, pattern.slice(0, -all.length - 1));
  if (pattern.endsWith(`/${whole}`)) return allBelow(root, pattern.slice(0, -whole.length - 1)).files.sort();
  if (!isGlob(pattern)) return [pattern];
  return globSync(pattern, { cwd: root, withFileTypes: true, exclude: (entry) => ignored.test(entry.name) })
    .filter((entry) => entry.isFile() && !ignored.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** The stat of a file, and whether it can be trusted. */
export type Look = {
  stat: string;
  /** The file changed within the last second, so its next change may leave the stat as it is. */
  fresh: boolean;
  ctimeMs: number;
  executable: boolean;
};

export type Looks = ReadonlyMap<string, Look | undefined>;

/**
 * `path` is relative to `root`, or absolute. Undefined if the file is missing. The stat of a source includes its
 * ctime, which changes with every edit, even one that is undone or keeps size and mtime. Absolute paths are in the
 * state folder, where ctime is ignored: a new hard link to a content changes it.
 */
export function lookAt(root: string, path: string): Look | undefined {
  const ofState = isAbsolute(path);
  const absolute = ofState ? path : join(root, path);
  const own = entryAt(absolute);
  const link = own?.isSymbolicLink() ? own : undefined;
  const stats = link ? statSync(absolute, { bigint: true, throwIfNoEntry: false }) : own;
  if (!stats) return undefined;
  const { size, mtimeNs, ctimeNs, ino, mode } = stats;
  const changedNs = link && link.ctimeNs > ctimeNs ? link.ctimeNs : ctimeNs;
  const ctimeMs = Number(changedNs / 1_000_000n);
  const fresh = Date.now() - ctimeMs <= 1000;
  const text = `${size} ${mtimeNs} ${ino} ${mode}`;
  // a link that pointed elsewhere for a while has another inode or ctime when it points back
  const linkText = link ? ` by ${link.ino} ${link.ctimeNs}` : "";
  const executable = (mode & 0o111n) !== 0n;
  return { stat: ofState ? text : `${text} ${ctimeNs}${linkText}`, fresh, ctimeMs, executable };
}

/** Returns undefined also where lstat throws although there can be no file: below a file, or under an impossible name. */
function entryAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (absentCodes.includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

const absentCodes = ["ENOTDIR", "ENAMETOOLONG", "ERR_INVALID_ARG_VALUE"];

/** Recorded in place of a stat where only the kind was consulted. */
type Kind = "file" | "folder";

/** Whether the text is the stat of a regular file, not of a link, a kind or "missing". */
export function isFileStat(text: string): boolean {
  const mode = Number(/^\d+ \d+ \d+ (\d+) \d+$/.exec(text)?.[1]);
  return (mode & constants.S_IFMT) === constants.S_IFREG;
}

function isKind(stat: string): stat is Kind {
  return stat === "file" || stat === "folder";
}

function kindAt(root: string, path: string): Kind | "missing" {
  const stats = ifReadable(() => statSync(join(root, path)));
  return stats === undefined ? "missing" : stats.isDirectory() ? "folder" : "file";
}

/** Returns the file's stat as text, or "missing". Where the kind alone was recorded as `then`, returns the kind. */
export function statText(root: string, path: string, then = ""): string {
  return isKind(then) ? kindAt(root, path) : (lookAt(root, path)?.stat ?? "missing");
}

export function namesIn(root: string, folder: string): string[] {
  return ifReadable(() => readdirSync(join(root, folder)).sort()) ?? [];
}
