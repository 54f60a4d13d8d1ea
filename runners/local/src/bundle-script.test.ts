import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { bundleScript, type CannotBundle } from "./bundle-script.ts";

test("what Node would refuse to import is refused with its place and what to write, and nothing else is", async (t) => {
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
