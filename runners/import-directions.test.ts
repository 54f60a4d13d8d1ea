// Imports flow one way: formats ← kit ← core ← local, docker, slurm, agents, report ← cli. Tasks, scorers and
// pipeline steps see kit and formats; a step also the one package that it fronts. Read from the sources, so that
// a wrong import fails here before anyone builds on it.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { agentPreset } from "@mlrb/formats/declared/agent-preset";

const repository = join(dirname(fileURLToPath(import.meta.url)), "..");

/** What each package may import. */
const allowed: Record<string, string[]> = {
  formats: [],
  kit: ["formats"],
  core: ["formats", "kit"],
  local: ["core", "formats", "kit"],
  docker: ["core", "formats", "kit"],
  slurm: ["core", "formats", "kit"],
  agents: ["core", "formats", "kit"],
  report: ["core", "formats", "kit"],
  cli: ["agents", "core", "docker", "formats", "kit", "local", "report", "slurm"],
};

test("each package gives its sources by their names, as runners/cli/bin/pipeline.js assumes", () => {
  for (const name of Object.keys(allowed)) {
    const text = readFileSync(join(repository, "runners", name, "package.json"), "utf8");
    const { name: called, exports } = JSON.parse(text) as { name: string; exports: unknown };
    assert.deepEqual([called, exports], [`@mlrb/${name}`, { "./*": "./src/*.ts" }]);
  }
});

type Import = { file: string; specifier: string };

const files = globSync("{runners,tasks,scorers,pipelines}/**/*.{ts,js}", {
  cwd: repository,
  exclude: ["**/node_modules/**"],
}).sort();
const imports = files.flatMap((file) => importsOf(file, readFileSync(join(repository, file), "utf8")));

function importsOf(file: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|[^:"'`])\/\/.*$/gm, "$1");
  const forms = [
    /\b(?:import|export)\b[^"';]*?\bfrom\s*["']([^"']+)["']/g,
    /\bimport(?:\s+|\(\s*)["']([^"']+)["']/g,
  ];
  return forms.flatMap((form) => [...code.matchAll(form)].map((match) => ({ file, specifier: match[1]! })));
}

/** The package of ours that an import reaches, by name or by path. */
function target({ file, specifier }: Import): string | undefined {
  const named = /^@mlrb\/([a-z]+)/.exec(specifier);
  if (named) return named[1];
  if (!specifier.startsWith(".")) return undefined;
  return packageOf(relative(repository, resolve(repository, dirname(file), specifier)));
}

/** The file of ours that an import names, from the repository's root. */
function sourceOf({ file, specifier }: Import): string | undefined {
  const named = /^@mlrb\/([a-z]+)\/(.+)$/.exec(specifier);
  if (named) return `runners/${named[1]}/src/${named[2]}.ts`;
  if (!specifier.startsWith(".")) return undefined;
  return relative(repository, resolve(repository, dirname(file), specifier));
}

function packageOf(path: string): string | undefined {
  return /^runners\/([^/]+)\//.exec(path)?.[1];
}

test("every import between packages goes in the allowed direction", () => {
  const wrong = imports.filter((one) => {
    const [from, to] = [packageOf(one.file), target(one)];
    return from !== undefined && to !== undefined && from !== to && !allowed[from]?.includes(to);
  });
  assert.deepEqual(wrong, []);
});

test("packages are imported by name, never by a path into another's folder", () => {
  const wrong = imports.filter(
    (one) =>
      one.specifier.startsWith(".") && target(one) !== packageOf(one.file) && target(one) !== undefined,
  );
  assert.deepEqual(wrong, []);
});

test("tasks and scorers import only kit and formats of our packages", () => {
  const wrong = imports.filter(
    (one) => /^(tasks|scorers)\//.test(one.file) && ![undefined, "kit", "formats"].includes(target(one)),
  );
  assert.deepEqual(wrong, []);
});

test("a pipeline step imports at most one package, and docker only to pass containers", () => {
  const fronted = new Map<string, Set<string>>();
  for (const one of imports.filter(
    ({ file }) => file.startsWith("pipelines/") && !file.endsWith(".test.ts"),
  )) {
    const to = target(one);
    if (to !== undefined && !["kit", "formats", "docker"].includes(to))
      fronted.set(one.file, (fronted.get(one.file) ?? new Set()).add(to));
  }
  assert.deepEqual(
    [...fronted].filter(([, packages]) => packages.size > 1),
    [],
  );
});

test("there are no import cycles", () => {
  const edges = new Map<string, string[]>();
  for (const { file, specifier } of imports) {
    const to = sourceOf({ file, specifier });
    if (to !== undefined) edges.set(file, [...(edges.get(file) ?? []), to]);
  }
  const done = new Set<string>();
  const visit = (file: string, trail: string[]) => {
    assert.ok(!trail.includes(file), `a cycle: ${[...trail.slice(trail.indexOf(file)), file].join(" → ")}`);
    if (done.has(file)) return;
    for (const next of edges.get(file) ?? []) visit(next, [...trail, file]);
    done.add(file);
  };
  for (const file of edges.keys()) visit(file, []);
});

/** What each of these costs to load is felt where nothing runs: execa took 95 ms and more on a loaded machine, of 150. */
const heavy = ["ajv", "esbuild", "execa", "string-width", "zx"];

/** What a run with nothing to do and `status` load, with what they import when they come to it. */
const quick = [
  ...[
    "main",
    "commands/run-command",
    "run/closing",
    "show/show-report",
    "show/read-report",
    "commands/status-command",
  ].map((name) => `cli/src/${name}`),
  ...["formats/terminal-table", "sections/sections", "sections/times"].map((name) => `report/src/${name}`),
];

for (const entry of quick) {
  test(`${entry} loads no package that only runs, checks or odd letters need`, () => {
    const seen = new Set([`runners/${entry}.ts`]);
    for (const file of seen) {
      const code = readFileSync(join(repository, file), "utf8").replace(/^\s*\/\/.*$/gm, "");
      for (const [, specifier] of code.matchAll(
        /^(?:import|export)\b(?!\s+type\b)(?:[^"';]*?\bfrom)?\s*["']([^"']+)["']/gm,
      )) {
        assert.ok(!heavy.includes(specifier!), `${file} loads ${specifier}`);
        const ours = sourceOf({ file, specifier: specifier! });
        if (ours !== undefined) seen.add(ours);
      }
    }
    assert.ok(seen.size > 1);
  });
}

test("a package.json lists exactly the imported packages", () => {
  for (const name of Object.keys(allowed)) {
    const manifest = globSync(`runners/${name}/package.json`, { cwd: repository })[0];
    if (!manifest) continue;
    const { dependencies = {} } = JSON.parse(readFileSync(join(repository, manifest), "utf8"));
    const used = new Set<string>();
    for (const { file, specifier } of imports) {
      const ofTests = file.endsWith(".test.ts") || file.includes("/testing/");
      if (packageOf(file) !== name || ofTests || /^(\.|node:)/.test(specifier)) continue;
      used.add(
        specifier
          .split("/")
          .slice(0, specifier.startsWith("@") ? 2 : 1)
          .join("/"),
      );
    }
    const declared = Object.keys(dependencies).filter((one) => one !== "graphology-types"); // a peer of graphology
    assert.deepEqual([...used].sort(), declared.sort(), `runners/${name}/package.json`);
  }
});

/** Files that run or configure the program: no tests, no recordings of what agents did. */
function ofTheProgram(endings: string): string[] {
  const found = globSync(`runners/**/*.{${endings}}`, {
    cwd: repository,
    exclude: ["**/node_modules/**", "**/testing/**", "**/tests/**", "**/recordings/**"],
  });
  return found.filter((file) => !file.includes(".test.")).sort();
}

const foldersWith = (pattern: string) =>
  globSync(pattern, { cwd: repository }).map((path) => basename(dirname(path)));

/** The lines of a file without its comments, and without examples in help texts. */
function codeLines(file: string): string[] {
  const text = readFileSync(join(repository, file), "utf8");
  const comments = /\.(py|yaml)$/.test(file)
    ? /"""[\s\S]*?"""|(?<=^|\s)#.*$/gm
    : /\/\*[\s\S]*?\*\/|\/\/.*$/gm;
  return text
    .replace(comments, "")
    .split("\n")
    .filter((line) => !/e\.g\.|pnpm pipeline/.test(line));
}

test("nothing in runners/ names a task or a scorer: TypeScript, Python or an agent's preset", () => {
  const names = [...foldersWith("tasks/*/task.yaml"), ...foldersWith("scorers/*/scorer.yaml")];
  assert.ok(names.length > 0);
  const files = ofTheProgram("ts,js,mjs,py,yaml");
  for (const ending of [".ts", ".py", ".yaml"]) assert.ok(files.some((file) => file.endsWith(ending)));
  for (const file of files) {
    const lines = codeLines(file);
    for (const name of names) {
      const said = lines.filter((line) => line.includes(name));
      assert.deepEqual(said, [], `${file} names ${name}`);
    }
  }
});

test("nothing in runners/ names an agent: TypeScript or Python", () => {
  const presets = globSync("runners/agents/presets/*.yaml", { cwd: repository });
  assert.ok(presets.length > 0);
  const kinds = agentPreset.properties.kind.enum as readonly string[];
  // some agents are called by an ordinary word (`nop`): its own text, a file's or an axis's value names the
  // agent
  const names = presets.map((path) => basename(path, ".yaml")).filter((name) => !kinds.includes(name));
  const forms = names.map((name) => new RegExp(`["'\`/=]${RegExp.escape(name)}(["'\`,\\]/]|\\.yaml)`));
  const said = ofTheProgram("ts,js,mjs,py").flatMap((file) =>
    codeLines(file)
      .filter((line) => forms.some((form) => form.test(line)))
      .map((line) => `${file}: ${line.trim()}`),
  );
  assert.deepEqual(said, []);
});

test("runners/ names no folder of Python imports but the kit's", () => {
  const named = ofTheProgram("ts,js,mjs,py").flatMap((file) =>
    codeLines(file).filter((line) => /scorer_library|scorers\/library/.test(line)),
  );
  assert.deepEqual(named, []);
});
