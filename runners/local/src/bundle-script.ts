// Bundles a stage script with all that it imports from source, for the digest of what it can run.
// Workspace packages are bundled, registry packages are left outside and named.
import { readFile } from "node:fs/promises";
import { extname, isAbsolute, join, relative } from "node:path";
import type { Diagnostic } from "@mlrb/core/diagnostic";
import type { BuildOptions, Loader, Message, Plugin, TransformOptions } from "esbuild";
import { nodeImports } from "./node-imports.ts";

// Names stay: esbuild chooses short ones by how often each letter occurs in the source, types included,
// so that a changed annotation would change the digest.
const minify = {
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: "none",
} as const satisfies TransformOptions;

export type Bundle = {
  contents: Uint8Array;
  /** Source files in it, from the root. */
  inputs: string[];
  /** Registry packages that it imports. */
  packages: Set<string>;
};

/** The script cannot run as it is. The message names the script, `problems` the places. */
export class CannotBundle extends Error {
  readonly problems: Diagnostic[];
  /** Each file with an error, and what it says is wrong. */
  readonly errors: { file: string | undefined; text: string }[];

  constructor(script: string, errors: Message[], fallback: string) {
    const places = errors.map(({ location, text }) =>
      location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text,
    );
    super(`${script} cannot be bundled: ${places.length > 0 ? places.join("\n") : fallback}`);
    this.problems = errors.map((error) => diagnosticOf(script, error));
    if (errors.length === 0) this.problems = [{ code: "cannot-bundle", message: this.message }];
    this.errors = errors.map(({ location, text }) => ({ file: location?.file, text }));
  }
}

function diagnosticOf(script: string, { location, text }: Message): Diagnostic {
  if (!location) return { code: "cannot-bundle", message: `${script}: ${text}` };
  const { file, line, column, lineText, length } = location;
  const before = Buffer.from(lineText).subarray(0, column).toString().length;
  return {
    code: "cannot-bundle",
    message: file === script ? text : `${text} (imported by ${script})`,
    place: { file, line, column: before + 1, excerpt: lineText, length: Math.max(1, length) },
    help: "repair the script: a stage that runs it fails before it starts",
  };
}

/** `script` is relative to `root`. Throws CannotBundle. */
export async function bundleScript(root: string, script: string): Promise<Bundle> {
  const { build } = await import("esbuild");
  const packages = new Set<string>();
  const options: BuildOptions & { metafile: true } = {
    absWorkingDir: root,
    entryPoints: [script],
    bundle: true,
    write: false,
    ...minify,
    metafile: true,
    platform: "node",
    format: "esm",
    target: "esnext",
    logLevel: "silent",
    plugins: [registryPackages(packages), nodeImports],
  };
  const result = await build(options).catch((error: Error & { errors?: Message[] }) => {
    throw new CannotBundle(script, error.errors ?? [], error.message);
  });
  const inputs = Object.keys(result.metafile.inputs).map((path) => relative(root, join(root, path)));
  return { contents: result.outputFiles![0]!.contents, inputs, packages };
}

function registryPackages(packages: Set<string>): Plugin {
  return {
    name: "registry-packages",
    setup(context) {
      context.onResolve({ filter: /^[^./]/ }, (args) => {
        if (args.kind === "entry-point" || isAbsolute(args.path)) return undefined;
        if (args.path.startsWith("@mlrb/")) return undefined;
        if (!args.path.startsWith("node:")) packages.add(packageName(args.path));
        return { path: args.path, external: true };
      });
    },
  };
}

const loaders: Record<string, Loader> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".js": "ts",
  ".mjs": "ts",
};

/** A source file without what changes nothing: comments and types of code, white space of JSON. Other files are as they are. */
export async function minifiedSource(path: string): Promise<string | Uint8Array> {
  const bytes = await readFile(path);
  const loader = extname(path) === ".json" ? "json" : loaders[extname(path)];
  if (loader === undefined) return bytes;
  const { transform } = await import("esbuild");
  const { code } = await transform(bytes, { loader, ...(loader !== "json" && minify) });
  return code;
}

function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
