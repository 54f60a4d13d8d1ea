// Finds the test files that can reach a changed file: by imports, by file names in the text of the test and its
// imports, or by a place near the file (a Python script, a golden file, a task's prompt).
// Pure: no disk, no git.
import { posix } from "node:path";

const { basename, dirname, join } = posix;

/** Text by path relative to the repository; all files that git tracks, data included. */
export type Sources = ReadonlyMap<string, string>;

/** Test files among `sources` that can reach one of `changed`. A changed path may be deleted. */
export function testsReaching(changed: readonly string[], sources: Sources): string[] {
  const wanted = new Set(changed);
  const everything = changed.some((path) => /^(package\.json|pnpm-lock\.yaml|tsconfig\.json)$/.test(path));
  const byName = Map.groupBy([...new Set([...sources.keys(), ...changed])], (path) => basename(path));
  const edges = new Map<string, string[]>();
  for (const [path, text] of sources) edges.set(path, isCode(path) ? targets(path, text, byName) : []);
  const nearby = changed.filter((path) => !/^runners\/\w+\/src\/.*\.ts$/.test(path)); // the others are imported
  return [...sources.keys()]
    .filter((path) => path.endsWith(".test.ts"))
    .filter((test) => everything || reaches(test, wanted, edges) || nearby.some((path) => isNear(test, path)))
    .sort();
}

/** Tests of the whole program start it as a process and reach all of it, so only their imports count. */
function isOfTheWholeProgram(file: string): boolean {
  return file.startsWith("tests/");
}

function isCode(path: string): boolean {
  return /\.(ts|js|mjs|py)$/.test(path);
}

function reaches(test: string, wanted: ReadonlySet<string>, edges: ReadonlyMap<string, string[]>): boolean {
  const seen = new Set([test]);
  for (const path of seen) {
    if (wanted.has(path)) return true;
    for (const next of edges.get(path) ?? []) {
      if (isOfTheWholeProgram(test) && /^runners\//.test(next) && isCode(next)) continue;
      seen.add(next);
    }
  }
  return false;
}

function targets(path: string, text: string, byName: ReadonlyMap<string, string[]>): string[] {
  const found = path.endsWith(".py") ? pythonImports(path, text, byName) : imports(path, text);
  return [...found, ...namedFiles(path, text, byName)];
}

function imports(path: string, text: string): string[] {
  const forms = [
    /\b(?:import|export)\b[^"';]*?\bfrom\s*["']([^"']+)["']/g,
    /\bimport(?:\s+|\(\s*)["']([^"']+)["']/g,
  ];
  return forms
    .flatMap((form) => [...text.matchAll(form)].map(([, specifier]) => specifier!))
    .flatMap((specifier) => {
      const [, name, module] = /^@mlrb\/([a-z]+)\/(.+)$/.exec(specifier) ?? [];
      if (name !== undefined) return [`runners/${name}/src/${module}.ts`];
      return specifier.startsWith(".") ? [join(dirname(path), specifier)] : [];
    });
}

/** Modules next to the script or below a folder of PYTHONPATH: only the dotted name decides. */
function pythonImports(path: string, text: string, byName: ReadonlyMap<string, string[]>): string[] {
  const lines = text.matchAll(/^\s*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|.*)|import\s+(.*))$/gm);
  const modules = [...lines].flatMap(([, from, names, imported]) =>
    from === undefined
      ? [...imported!.matchAll(/[\w.]+/g)].map(([name]) => name)
      : [from, ...[...names!.matchAll(/\w+/g)].map(([name]) => `${from}.${name}`)],
  );
  const files = modules.flatMap((name) => {
    const module = name.replace(/^\.+/, "").replaceAll(".", "/");
    return [`${module}.py`, `${module}/__init__.py`];
  });
  return files
    .flatMap((file) => (byName.get(basename(file)) ?? []).filter((place) => `/${place}`.endsWith(`/${file}`)))
    .filter((one) => one !== path);
}

/** Files whose name occurs in the text, in a path or alone: `join(here, "test_costs.py")`. */
function namedFiles(path: string, text: string, byName: ReadonlyMap<string, string[]>): string[] {
  const names = new Set(
    [...text.matchAll(/[\w.-]+\.(?:py|ya?ml|json|jsonl|lock|md|txt|js|ts|html|csv|toml)\b/g)].map(
      ([name]) => name,
    ),
  );
  return [...names].flatMap((name) => {
    const places = byName.get(name) ?? [];
    if (places.length <= 1) return places;
    // of files with the same name (task.yaml), those whose folder is in the text too
    return places.filter(
      (place) => dirname(place) === dirname(path) || text.includes(join(basename(dirname(place)), name)),
    );
  });
}

/** In the changed file's folder or below, or directly in a folder above. A golden file counts as in its parent. */
function isNear(test: string, changed: string): boolean {
  const folder = dirname(changed).replace(/\/(golden|fixtures|testing)(\/.*)?$/, "");
  const at = dirname(test);
  return (
    `${at}/`.startsWith(`${folder}/`) || (at !== "." && `${folder}/`.startsWith(`${at}/`) && folder !== ".")
  );
}
