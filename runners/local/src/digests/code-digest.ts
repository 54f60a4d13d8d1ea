// The digest of the code that a script can run. Its imports, including workspace packages, are bundled and
// minified from source. A comment, a type or formatting changes nothing; any reachable line changes the digest.
// Registry packages count by their versions in the lock file, with all dependencies.
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { canonicalJson } from "@mlrb/kit/json-file";
import { Consulted, lookAt, statText } from "../decide/consulted-files.ts";
import { ifReadable } from "../store/if-readable.ts";
import { MemoryFile } from "../store/memory-file.ts";
import { bundleScript, CannotBundle, type Import, minifiedSource, unlistedPackage } from "./bundle-script.ts";
import { type Lock, packageClosure, parseLock } from "./package-lock.ts";

const lockFile = "pnpm-lock.yaml";

export type CodeDigest = {
  /** The part of the action key. */
  code: Record<string, string>;
  /** Digest of each source file without comments and types, to name the changed file. */
  files: Record<string, string>;
};

/** `raws`: digests of the files' bytes. If these are unchanged, so is the code digest. */
type Remembered = CodeDigest & { stats: Record<string, string>; raws: Record<string, string> };

/** Digests of scripts, remembered by the stat of every source file. */
export class CodeDigests {
  readonly #root: string;
  readonly #known: MemoryFile<{ scripts: Record<string, Remembered> }>;
  #lock: { stat: string; lock: Lock } | undefined;
  /** Also what is being found: the attempts of a run ask for their common script at once. */
  readonly #thisRun = new Map<string, Promise<CodeDigest>>();
  /** Digests of sources without comments and types, by file name extension and the digest of the bytes. */
  readonly #minified = new Map<string, Promise<string>>();
  readonly #consulted: Consulted;

  constructor(root: string, memory: string, consulted = new Consulted(root)) {
    this.#root = root;
    this.#consulted = consulted;
    this.#known = new MemoryFile(join(memory, "code.json"), 1, { scripts: {} });
  }

  /** Throws CannotBundle. */
  of(script: string): Promise<CodeDigest> {
    const found = this.#thisRun.getOrInsertComputed(script, () => this.#find(script));
    found.catch(() => this.#thisRun.delete(script));
    return found;
  }

  async #find(script: string): Promise<CodeDigest> {
    const { scripts } = this.#known.value;
    let found = scripts[script];
    if (!found || !this.#unchanged(found)) {
      // same bytes, same code: a touched file or a newer esbuild must not make every result stale
      found = (found && this.#sameBytes(found)) ?? (await this.#make(script));
      scripts[script] = found;
      this.#known.change();
    }
    for (const path of Object.keys(found.stats)) this.#consulted.file(path);
    return found;
  }

  /** Whether the script is unchanged since `of` in this run. After a change the result belongs to no key. */
  async stillIs(script: string): Promise<boolean> {
    const then = await this.#thisRun.get(script);
    const remembered = this.#known.value.scripts[script];
    if (!then || (remembered && this.#unchanged(remembered))) return true;
    try {
      return canonicalJson((await this.#make(script)).code) === canonicalJson(then.code);
    } catch (error) {
      if (error instanceof CannotBundle) return false;
      throw error;
    }
  }

  save(): void {
    this.#known.save();
  }

  #unchanged({ stats, code }: Remembered): boolean {
    if (code.node !== process.version) return false;
    return Object.entries(stats).every(([path, then]) => statText(this.#root, path) === then);
  }

  /** Digest of the named registry packages and all their dependencies. */
  #packages(script: string, packages: Map<string, Import>): string {
    let lock: Lock;
    try {
      // read again when it changes during a run; otherwise an old digest is remembered with the new lock file's
      // stat
      const stat = statText(this.#root, lockFile);
      if (this.#lock?.stat !== stat)
        this.#lock = { stat, lock: parseLock(readFileSync(join(this.#root, lockFile), "utf8")) };
      lock = this.#lock.lock;
    } catch (error) {
      throw new CannotBundle(script, [], (error as Error).message);
    }
    const unlisted = [...packages].filter(([name]) => !lock.direct.has(name));
    if (unlisted.length > 0) {
      const complaints = unlisted.map(([name, at]) => unlistedPackage(this.#root, name, at));
      throw new CannotBundle(script, complaints, "");
    }
    return hash("sha256", packageClosure(lock, packages.keys()).join("\n"));
  }

  #sameBytes(held: Remembered): Remembered | undefined {
    const paths = Object.keys(held.raws ?? {});
    if (held.code.node !== process.version || paths.length === 0) return undefined;
    const stats = this.#stats(paths); // before the files are read, so that a change in between is noticed
    if (!paths.every((path) => this.#raw(path) === held.raws[path])) return undefined;
    return { ...held, stats };
  }

  #stats(paths: string[]): Record<string, string> {
    const now = Date.now();
    return Object.fromEntries(
      paths.map((path) => {
        const look = lookAt(this.#root, path);
        // changed within the last second: this text never matches again
        return [path, look?.fresh ? `fresh ${now}` : (look?.stat ?? "missing")];
      }),
    );
  }

  #raw(path: string): string {
    return ifReadable(() => hash("sha256", readFileSync(join(this.#root, path)))) ?? "missing";
  }

  /** Consults the files that must change before the script can be bundled. */
  #lookAtCause(error: unknown): void {
    if (!(error instanceof CannotBundle)) return;
    for (const { file, text } of error.errors) {
      if (file === undefined) continue;
      this.#consulted.file(file);
      const missing = /^Could not resolve "(\.[^"]*)"/.exec(text)?.[1];
      if (missing !== undefined) this.#consulted.file(join(dirname(file), missing));
    }
  }

  async #make(script: string): Promise<Remembered> {
    for (let tries = 1; ; tries++) {
      const beginMs = Date.now();
      const made = await this.#bundle(script);
      // edited while it was bundled: the bytes read may belong to neither version
      const moved = Object.keys(made.stats).some(
        (path) => (lookAt(this.#root, path)?.ctimeMs ?? beginMs) >= beginMs - 20,
      );
      if (!moved) return made;
      // valid for this run only: no later run matches this digest
      const stats = Object.fromEntries(Object.keys(made.stats).map((path) => [path, "never settled"]));
      if (tries === 3) return { ...made, stats, raws: {} };
    }
  }

  /** The digests of a source, of its bytes and minified. Most scripts import the same files. */
  async #digestsOf(path: string): Promise<{ path: string; raw: string; minified: string }> {
    const bytes = readFileSync(join(this.#root, path));
    const raw = hash("sha256", bytes);
    const name = `${extname(path)} ${raw}`;
    const minified =
      this.#minified.get(name) ?? minifiedSource(path, bytes).then((source) => hash("sha256", source));
    this.#minified.set(name, minified);
    return { path, raw, minified: await minified };
  }

  async #bundle(script: string): Promise<Remembered> {
    const { contents, inputs, packages } = await bundleScript(this.#root, script).catch((error) => {
      this.#lookAtCause(error);
      throw error;
    });
    const locks = packages.size > 0 ? [lockFile] : [];
    const sources = await Promise.all(inputs.map((path) => this.#digestsOf(path)));
    return {
      code: {
        [script]: hash("sha256", contents),
        node: process.version,
        ...(packages.size > 0 && { packages: this.#packages(script, packages) }),
      },
      files: Object.fromEntries(sources.map(({ path, minified }) => [path, minified])),
      stats: this.#stats([...inputs, ...locks]),
      raws: Object.fromEntries([
        ...sources.map(({ path, raw }) => [path, raw]),
        ...locks.map((path) => [path, this.#raw(path)]),
      ]),
    };
  }
}
