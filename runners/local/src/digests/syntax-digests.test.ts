import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { assertTestsRan } from "../../../../tests/support/python-tests-ran.ts";
import { findPython } from "../process/find-python.ts";
import { FileDigests } from "./file-digest-memory.ts";

const here = dirname(fileURLToPath(import.meta.url));

function folder(t: { after: (undo: () => void) => void }): string {
  const path = mkdtempSync(join(tmpdir(), "mlrb-syntax-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("the Python digest depends on a module's behavior and not on its formatting", (t) => {
  const python = findPython(folder(t))!;
  const args = ["-B", "-m", "unittest", "test_syntax_digest"];
  const { status, stderr } = spawnSync(python.path, args, { cwd: here, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assertTestsRan(stderr);
});

test("a Python file's digest ignores comments and includes numbers; other files count by bytes", (t) => {
  const root = folder(t);
  const write = (name: string, text: string) => {
    writeFileSync(join(root, name), text);
    utimesSync(join(root, name), 1e9, 1e9);
  };
  const digests = () => new FileDigests(root, root).ofPatterns(["*.py", "*.txt"]);
  write("a.py", "x = 1\n");
  write("a.txt", "x = 1\n");
  const before = digests();
  write("a.py", "# one\nx = 1\n");
  write("a.txt", "# one\nx = 1\n");
  const commented = digests();
  assert.equal(commented["a.py"], before["a.py"]);
  assert.notEqual(commented["a.txt"], before["a.txt"]);
  write("a.py", "x = 22\n");
  assert.notEqual(digests()["a.py"], before["a.py"]);
});

test("a Python file that does not parse counts by its bytes", (t) => {
  const root = folder(t);
  writeFileSync(join(root, "a.py"), "def f(:\n");
  const before = new FileDigests(root, root).ofPatterns(["a.py"]);
  writeFileSync(join(root, "a.py"), "def g(:\n");
  assert.notEqual(new FileDigests(root, root).ofPatterns(["a.py"])["a.py"], before["a.py"]);
});
