// An esbuild plugin that refuses file imports that Node refuses: esbuild adds extensions, searches folders and
// bundles files of any kind. Otherwise the stage would be planned and keyed, and then fail with a stack trace of
// Node's own modules.
import { statSync } from "node:fs";
import { extname, resolve } from "node:path";
import type { OnResolveArgs, Plugin } from "esbuild";

const code = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

export const nodeImports: Plugin = {
  name: "node-imports",
  setup(context) {
    context.onResolve({ filter: /^\.{0,2}\// }, (args) => {
      const text = refusal(args);
      return text === undefined ? undefined : { errors: [{ text }] };
    });
  },
};

/**
 * Why Node would refuse the import, with the fix. Undefined for an import that Node accepts, and for a missing file.
 */
function refusal({ kind, path, resolveDir, with: attributes }: OnResolveArgs): string | undefined {
  if (kind !== "import-statement" && kind !== "dynamic-import") return undefined;
  const file = resolve(resolveDir, path.replace(/[?#].*$/s, ""));
  const ending = extname(file);
  const { type } = attributes;
  if (ending === ".json") return type === "json" ? undefined : 'Node imports JSON only with { type: "json" }';
  if (isFile(file)) {
    if (code.includes(ending) && type === undefined) return undefined;
    const kinds = type === undefined ? `no ${ending || "such"} file` : `no file as { type: "${type}" }`;
    return `Node imports ${kinds}; read it, readFileSync(new URL("${path}", import.meta.url)), and name it in the stage's \`files\``;
  }
  const stem = code.includes(ending) ? file.slice(0, -ending.length) : file;
  const meant = [...code.map((one) => `${stem}${one}`), ...code.map((one) => `${file}/index${one}`)].find(
    isFile,
  );
  if (meant === undefined) return undefined;
  const folder = resolve(resolveDir);
  const ownFolder = path.slice(0, path.lastIndexOf("/") + 1);
  const inside = meant.slice(resolve(folder, ownFolder).length + 1);
  return `Node imports a file by its whole name: write "${ownFolder}${inside}"`;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
