import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { bundleScript, type CannotBundle } from "./bundle-script.ts";

test("an import of no file is refused with its place, where Node would refuse it too, and no other", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-bundle-"));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (file: string, text: string) => writeFileSync(join(root, file), text);
  write("package.json", '{"type": "module"}');
  write("inner.ts", "export default 1;\n");
  write("data.json", "{}\n");
  const cases: [string, string | undefined][] = [
    ['import "./inner.ts"', undefined],
    ['import "./inner.ts?again"', undefined],
    ['import "./data.json" with { type: "json" }', undefined],
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
