// Bundles a stage script with everything that it imports from source, for the digest of the code that it can run.
// Workspace packages are bundled. Registry packages stay external and are listed.
import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { isAbsolute, join, relative } from "node:path";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { BuildOptions, Location, Message, Plugin, TransformOptions } from "esbuild";
import { nodeImports } from "./node-imports.ts";
import { nodeSyntax } from "./node-syntax.ts";

// Identifiers are not minified: esbuild chooses short names by letter frequency in the source, types included, so
// a changed annotation would change the digest.
const minify = {
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: "none",
} as const satisfies TransformOptions;

export type Bundle = {
  contents: Uint8Array;
  /** The bundled source files, from the root. */
  inputs: string[];
  /** The imported registry packages, each with its first import. */
  packages: Map<string, Import>;
};

/** `file`: path from the root. */
export type Import = { file: string; specifier: string };

/** An esbuild error; the column counts bytes from 0. */
export type Complaint = {
  text: string;
  location: Pick<Location, "file" | "line" | "lineText" | "column" | "length"> | null;
};

/** The script cannot run as it is. The message names the script; `problems` names the places. */
export class CannotBundle extends Error {
  readonly problems: Diagnostic[];
  /** Each file with an error, and the text of the error. */
  readonly errors: { file: string | undefined; text: string }[];

  constructor(script: string, errors: Complaint[], fallback: string) {
    const places = errors.map(({ location, text }) =>
      location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text,
    );
    super(`${script} cannot be bundled: ${places.length > 0 ? places.join("\n") : fallback}`);
    this.problems = errors.map((error) => diagnosticOf(script, error));
    if (errors.length === 0) this.problems = [{ code: "cannot-bundle", message: this.message }];
    this.errors = errors.map(({ location, text }) => ({ file: location?.file, text }));
  }
}

function diagnosticOf(script: string, { location, text }: Complaint): Diagnostic {
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
  const packages = new Map<string, Import>();
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
    plugins: [registryPackages(root, packages), nodeImports, nodeSyntax],
  };
  const result = await build(options).catch((error: Error & { errors?: Message[] }) => {
    throw new CannotBundle(script, error.errors ?? [], error.message);
  });
  const inputs = Object.keys(result.metafile.inputs).map((path) => relative(root, join(root, path)));
  return { contents: result.outputFiles![0]!.contents, inputs, packages };
}

function registryPackages(root: string, packages: Map<string, Import>): Plugin {
  return {
    name: "registry-packages",
    setup(context) {
      context.onResolve({ filter: /^[^./]/ }, ({ kind, path, importer }) => {
        if (kind === "entry-point" || isAbsolute(path) || path.startsWith("@mlrb/")) return undefined;
        const external = { path, external: true };
        if (path.startsWith("data:")) return external; // the script contains all of it
        if (path.startsWith("node:"))
          return isBuiltin(path) ? external : { errors: [{ text: `Node has no module "${path}"` }] };
        if (/^\w+:/u.test(path))
          return { errors: [{ text: "a script imports a file by a path that begins with ./ or ../" }] };
        const name = packageName(path);
        if (!packages.has(name)) packages.set(name, { file: relative(root, importer), specifier: path });
        return external;
      });
    },
  };
}

/**
 * Returns the error for a package that is in no package.json of the workspace, at the line that imports the
 * package.
 */
export function unlistedPackage(root: string, name: string, { file, specifier }: Import): Complaint {
  const text = `${name} is imported and is in no package.json of the workspace`;
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  const start = (one: string) => Math.max(one.indexOf(`"${specifier}"`), one.indexOf(`'${specifier}'`));
  const line = lines.findIndex((one) => start(one) >= 0);
  const lineText = lines[line];
  if (lineText === undefined) return { text: `${file}: ${text}`, location: null };
  const before = lineText.slice(0, start(lineText));
  const location = { file, line: line + 1, lineText, column: Buffer.byteLength(before) };
  return { text, location: { ...location, length: Buffer.byteLength(specifier) + 2 } };
}

/** Returns a source file without comments and types, or JSON without white space. Returns other files unchanged. */
export async function minifiedSource(path: string, bytes: Uint8Array): Promise<string | Uint8Array> {
  const loader = path.endsWith(".json") ? "json" : "ts";
  if (!/\.([cm]?ts|m?js|json)$/.test(path)) return bytes;
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
