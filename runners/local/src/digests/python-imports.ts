// Lists the repository's files that a Python script can run: the script and its imports, from its own folder and
// from kit's python-path. The list is remembered by file contents, so that a repeated question costs stats and no
// Python process.
import { readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { importsAnswer } from "@mlrb/formats/stage/python-answers";
import { quiet } from "@mlrb/kit/processes/process-table";
import type { Consulted } from "../decide/consulted-files.ts";
import { MemoryFile } from "../store/memory-file.ts";
import { askPython } from "./ask-python.ts";

/**
 * Paths from the repository's root: digests of the files that are read, and paths that would be read if they
 * existed.
 */
type Imports = { files: Record<string, string>; absent: string[] };

export type PythonImportsOptions = {
  root: string;
  /** Where Python looks besides the script's own folder, from the root; see kit's python-path. */
  folders: string[];
  memory: string;
  consulted: Consulted;
  /** Digest of a file's bytes; "missing" where there is none. */
  digestOf: (path: string) => string;
};

export class PythonImports {
  readonly #at: PythonImportsOptions;
  readonly #known: MemoryFile<{ folders: string[]; scripts: Record<string, Imports> }>;

  constructor(at: PythonImportsOptions) {
    this.#at = at;
    this.#known = new MemoryFile(join(at.memory, "imports.json"), 1, { folders: [], scripts: {} });
  }

  /** The script first. Without Python on this machine, only the script, which then cannot run either. */
  of(script: string): string[] {
    const { consulted } = this.#at;
    const held = this.#scripts()[script];
    const imports = held && this.#holds(held) ? held : this.#ask(script);
    for (const path of [...Object.keys(imports.files), ...imports.absent]) consulted.file(path);
    return [script, ...Object.keys(imports.files).filter((path) => path !== script)];
  }

  #holds({ files, absent }: Imports): boolean {
    const { root, digestOf } = this.#at;
    return (
      Object.entries(files).every(([path, digest]) => digestOf(path) === digest) &&
      !absent.some(existsIn(root))
    );
  }

  /** Cleared when Python searches other folders than before. */
  #scripts(): Record<string, Imports> {
    const { value } = this.#known;
    const { folders } = this.#at;
    if (value.folders.join("\n") !== folders.join("\n")) Object.assign(value, { folders, scripts: {} });
    return value.scripts;
  }

  #ask(script: string): Imports {
    const { root, folders, memory, digestOf } = this.#at;
    const question = { script: join(root, script), roots: folders.map((folder) => join(root, folder)) };
    const answer = askPython("local_imports.py", question, { schema: importsAnswer, memory });
    if (!answer) return { files: { [script]: digestOf(script) }, absent: [] };
    const { files, absent } = answer;
    const inside = (paths: string[]) =>
      paths.map((path) => relative(root, path)).filter((path) => !path.startsWith(".."));
    const imports = {
      files: Object.fromEntries(inside(files).map((path) => [path, digestOf(path)])),
      absent: inside(absent),
    };
    this.#scripts()[script] = imports;
    this.#known.change();
    this.#known.save();
    return imports;
  }
}

/** Whether a path of the root exists; each folder is listed once, as a script has hundreds of absent paths. */
function existsIn(root: string): (path: string) => boolean {
  const listed = new Map<string, Set<string>>();
  const exists = (path: string): boolean => {
    const folder = dirname(path);
    if (folder !== "." && !exists(folder)) return false;
    const names = listed.get(folder) ?? new Set(quiet(() => readdirSync(join(root, folder))));
    listed.set(folder, names);
    return names.has(basename(path));
  };
  return exists;
}
