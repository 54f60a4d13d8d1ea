import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { pythonFolders, pythonPath, pythonPathFile } from "./python-path.ts";

const repository = resolve(import.meta.dirname, "../../..");

function declaring(t: TestContext, text: string): string {
  const root = mkdtempSync(join(tmpdir(), "mlrb-python-path-"));
  t.after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, dirname(pythonPathFile)), { recursive: true });
  writeFileSync(join(root, pythonPathFile), text);
  return root;
}

test("the kit comes first, then the declared folders in their order, each once", (t) => {
  const root = declaring(t, "# why\n\nb/library/\n  a \r\nrunners/kit/python\n./b/library");
  assert.deepEqual(pythonFolders(root), ["runners/kit/python", "b/library", "a"]);
  assert.equal(
    pythonPath(root),
    [join(root, "runners/kit/python"), join(root, "b/library"), join(root, "a")].join(delimiter),
  );
});

test("a folder outside the repository is left out", (t) => {
  const root = declaring(t, "..\n../other\na/../../other\n/usr/lib\n");
  assert.deepEqual(pythonFolders(root), ["runners/kit/python"]);
});

test("without a declaration there is only the kit", () => {
  assert.deepEqual(pythonFolders("/nowhere"), ["runners/kit/python"]);
});

test("every folder of this repository's path exists and is known to ruff", () => {
  const ruff = readFileSync(join(repository, "ruff.toml"), "utf8");
  const [, sources = ""] = /^src = \[(.*)\]$/m.exec(ruff) ?? [];
  const folders = pythonFolders(repository);
  assert.ok(folders.length > 1);
  for (const folder of folders) {
    assert.ok(statSync(join(repository, folder)).isDirectory(), folder);
    assert.ok(sources.includes(`"${folder}"`), `${folder} is missing in src of ruff.toml`);
  }
});
