// The digest of what a script can run: its imports bundled and minified from source, workspace
// packages included, so that a comment, a type or formatting changes nothing and a reachable line
// anywhere does. Registry packages count by their versions in the lock file, with all they depend on.
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import type { Message } from "esbuild";
import { Consulted } from "./consulted.ts";
import { type Lock, packageClosure, parseLock } from "./package-lock.ts";

export type CodeDigest = {
  /** What enters the action key. */
  code: Record<string, string>;
  /** Digest of each source file without comments and types, to say which one changed. */
  files: Record<string, string>;
};

// Names stay: esbuild chooses short ones by how often each letter occurs in the source, types included,
// so that a changed annotation would change the digest.
const minify = { minifyWhitespace: true, minifySyntax: true };

/** `raws` are the digests of the files' bytes: where they are as before, so is what was made of them. */
type Remembered = CodeDigest & { stats: Record<string, string>; raws: Record<string, string> };

/** Digests of scripts, remembered by the stat of every file they were made from. */
export class CodeDigests {
  readonly #root: string;
  readonly #file: string;
  #known: Record<string, Remembered> | undefined;
  #changed = false;
  #lock: Lock | undefined;
  readonly #thisRun = new Map<string, CodeDigest>();

  readonly #consulted: Consulted;

  constructor(root: string, memory: string, consulted = new Consulted(root)) {
    this.#root = root;
    this.#consulted = consulted;
    this.#file = join(memory, "code.json");
  }

  /** Throws with esbuild's words where the script cannot be bundled. */
  async of(script: string): Promise<CodeDigest> {
    const held = this.#thisRun.get(script);
    if (held) return held;
    this.#known ??= this.#load();
    let found = this.#known[script];
    if (!found || !this.#unchanged(found)) {
      // same bytes, same code: a touched file or a newer esbuild must not stale the world
      found = (found && this.#sameBytes(found)) ?? (await this.#make(script));
      this.#known[script] = found;
      this.#changed = true;
    }
    for (const path of Object.keys(found.stats)) this.#consulted.file(path);
    this.#thisRun.set(script, found);
    return found;
  }

  /** Whether the script still is what `of` said in this run: a change while it ran makes its result nobody's. */
  async stillIs(script: string): Promise<boolean> {
    const then = this.#thisRun.get(script);
    const remembered = this.#known?.[script];
    if (!then || (remembered && this.#unchanged(remembered))) return true;
    return canonicalJson((await this.#make(script)).code) === canonicalJson(then.code);
  }

  save(): void {
    if (!this.#changed || !this.#known) return;
    writeWhole(this.#file, canonicalJson({ formatVersion: 1, scripts: this.#known }));
    this.#changed = false;
  }

  #load(): Record<string, Remembered> {
    try {
      const memory = JSON.parse(readFileSync(this.#file, "utf8")) as { scripts?: Record<string, Remembered> };
      return memory.scripts ?? {};
    } catch {
      return {};
    }
  }

  #unchanged({ stats, code }: Remembered): boolean {
    if (code.node !== process.version) return false;
    const now = Date.now();
    return Object.entries(stats).every(([path, then]) => statText(join(this.#root, path), now) === then);
  }

  /** Digest of the named registry packages and all they depend on. */
  #packages(names: Set<string>): string {
    this.#lock ??= parseLock(readFileSync(join(this.#root, "pnpm-lock.yaml"), "utf8"));
    return sha256(packageClosure(this.#lock, names).join("\n"));
  }

  #sameBytes(held: Remembered): Remembered | undefined {
    if (held.code.node !== process.version || !held.raws) return undefined;
    const paths = Object.keys(held.raws);
    if (!paths.every((path) => rawDigest(join(this.#root, path)) === held.raws[path])) return undefined;
    const now = Date.now();
    return {
      ...held,
      stats: Object.fromEntries(paths.map((path) => [path, statText(join(this.#root, path), now)])),
    };
  }

  /** What would have to change for a script to be bundled after all. */
  #lookAtCause(file: string | undefined, text: string): void {
    if (file === undefined) return;
    this.#consulted.file(file);
    const missing = /^Could not resolve "(\.[^"]*)"/.exec(text)?.[1];
    if (missing !== undefined) this.#consulted.file(join(dirname(file), missing));
  }

  async #make(script: string): Promise<Remembered> {
    const { build } = await import("esbuild");
    const packages = new Set<string>();
    const result = await build({
      absWorkingDir: this.#root,
      entryPoints: [script],
      bundle: true,
      write: false,
      ...minify,
      metafile: true,
      platform: "node",
      format: "esm",
      target: "esnext",
      legalComments: "none",
      logLevel: "silent",
      plugins: [
        {
          name: "registry-packages",
          setup(context) {
            context.onResolve({ filter: /^[^./]/ }, (args) => {
              if (args.kind === "entry-point" || isAbsolute(args.path)) return undefined;
              if (args.path.startsWith("@mlrb/")) return undefined;
              if (!args.path.startsWith("node:")) packages.add(packageName(args.path));
              return { path: args.path, external: true };
            });
          },
        },
      ],
    }).catch((error: Error & { errors?: Message[] }) => {
      for (const { location, text } of error.errors ?? []) this.#lookAtCause(location?.file, text);
      throw new Error(`${script} cannot be bundled: ${error.message}`);
    });
    const inputs = Object.keys(result.metafile.inputs).map((path) =>
      relative(this.#root, join(this.#root, path)),
    );
    const now = Date.now();
    const stats = Object.fromEntries(inputs.map((path) => [path, statText(join(this.#root, path), now)]));
    if (packages.size > 0) stats["pnpm-lock.yaml"] = statText(join(this.#root, "pnpm-lock.yaml"), now);
    const raws = Object.fromEntries(
      Object.keys(stats).map((path) => [path, rawDigest(join(this.#root, path))]),
    );
    return {
      code: {
        [script]: sha256(result.outputFiles[0]!.contents),
        node: process.version,
        ...(packages.size > 0 && { packages: this.#packages(packages) }),
      },
      files: Object.fromEntries(
        await Promise.all(inputs.map(async (path) => [path, await minified(join(this.#root, path))])),
      ),
      stats,
      raws,
    };
  }
}

function rawDigest(path: string): string {
  try {
    return sha256(readFileSync(path));
  } catch {
    return "missing";
  }
}

async function minified(path: string): Promise<string> {
  const { transform } = await import("esbuild");
  const { code } = await transform(readFileSync(path, "utf8"), {
    loader: "ts",
    ...minify,
    legalComments: "none",
  });
  return sha256(code);
}

/** The file's stat; for one changed within the last second a text that never matches again. */
function statText(path: string, nowMs: number): string {
  try {
    const { size, mtimeNs, ino } = statSync(path, { bigint: true });
    const settled = nowMs - Number(mtimeNs / 1_000_000n) > 1000;
    return settled ? `${size} ${mtimeNs} ${ino}` : `fresh ${nowMs}`;
  } catch {
    return "missing";
  }
}

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
