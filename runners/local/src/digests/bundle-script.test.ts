import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { bundleScript, type CannotBundle } from "./bundle-script.ts";

test("an import is refused with its place and a fix if Node would refuse it, and only then", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-bundle-"));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (file: string, text: string) => writeFileSync(join(root, file), text);
  write("package.json", '{"type": "module"}');
  write("tsconfig.json", '{"compilerOptions": {"verbatimModuleSyntax": true}}');
  mkdirSync(join(root, "lib"));
  write("lib/index.ts", "export default 1;\n");
  write("inner.ts", "export default 1;\n");
  write("view.tsx", "export default 1;\n");
  write("words.txt", "export default 1;\n");
  write("data.json", "{}\n");
  const read = (kinds: string, path: string) =>
    `Node imports ${kinds}; read it, readFileSync(new URL("${path}", import.meta.url)), and name it in the stage's \`files\``;
  const cases: [string, string | undefined][] = [
    ['import "./inner.ts"', undefined],
    ['import "./inner.ts?again"', undefined],
    ['import "./data.json" with { type: "json" }', undefined],
    ['import "./data.json"', 'Node imports JSON only with { type: "json" }'],
    ['import "./inner"', 'Node imports a file by its whole name: write "./inner.ts"'],
    ['await import("./inner.js")', 'Node imports a file by its whole name: write "./inner.ts"'],
    ['import "./lib"', 'Node imports a file by its whole name: write "./lib/index.ts"'],
    ['import "./view.tsx"', read("no .tsx file", "./view.tsx")],
    ['import "./words.txt"', read("no .txt file", "./words.txt")],
    [
      'import words from "./words.txt" with { type: "text" }',
      read('no file as { type: "text" }', "./words.txt"),
    ],
    [
      'import words from "./words.txt" with { type: "bytes" }',
      read('no file as { type: "bytes" }', "./words.txt"),
    ],
    ["enum Kind {\n  a,\n}", "TypeScript enum is not supported in strip-only mode"],
    [
      "namespace N {\n  export const a = 1;\n}",
      "TypeScript namespace declaration is not supported in strip-only mode",
    ],
    [
      "class A { constructor(private b: number) {} }",
      "TypeScript parameter property is not supported in strip-only mode",
    ],
    [
      "import a = require('node:fs')",
      "TypeScript import equals declaration is not supported in strip-only mode",
    ],
    [
      "const a = <number>1",
      "The angle-bracket syntax for type assertions, `<T>expr`, is not supported in type strip mode. Instead, use the 'as' syntax: `expr as T`.",
    ],
    ["declare enum Kind { a }", undefined],
    ["class A { private b = 1; static readonly c = 2 }", undefined],
    ['import "data:text/javascript,1"', undefined],
    ['import "node:nothing"', 'Node has no module "node:nothing"'],
    ['import "https://example.org/a.js"', "a script imports a file by a path that begins with ./ or ../"],
    ['import "./nowhere.ts"', 'Could not resolve "./nowhere.ts"'],
  ];
  for (const [statement, refused] of cases) {
    write("script.ts", `${statement};\n`);
    const told = await bundleScript(root, "script.ts").then(
      () => undefined,
      (error: CannotBundle) => error.problems[0]!,
    );
    assert.equal(told?.message, refused, statement);
    const at = { file: "script.ts", line: 1 };
    if (told) assert.deepEqual({ file: told.place?.file, line: told.place?.line }, at, statement);
    const { status, stderr } = spawnSync(process.execPath, ["script.ts"], { cwd: root, encoding: "utf8" });
    assert.equal(status === 0, refused === undefined, `Node itself: ${statement}\n${stderr}`);
  }
});
