import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { putInside } from "./put-inside.ts";

function folders(t: TestContext) {
  const base = mkdtempSync(join(tmpdir(), "put-"));
  t.after(() => removeFolder(base));
  for (const name of ["root", "outside", "given/deep"]) mkdirSync(join(base, name), { recursive: true });
  writeFileSync(join(base, "given/deep/file"), "given", { mode: 0o600 });
  writeFileSync(join(base, "given/run"), "#!/bin/sh\n", { mode: 0o700 });
  return { root: join(base, "root"), outside: join(base, "outside"), given: join(base, "given") };
}

const mode = (path: string) => statSync(path).mode & 0o777;

test("added files are readable by their owner, and programs stay executable", async (t) => {
  const { root, given } = folders(t);
  await putInside(root, given, "a/b/copy", {});
  assert.equal(readFileSync(join(root, "a/b/copy/deep/file"), "utf8"), "given");
  assert.deepEqual(
    [mode(join(root, "a/b/copy/deep/file")), mode(join(root, "a/b/copy/run"))],
    [0o644, 0o755],
  );
  assert.equal(mode(join(given, "deep/file")), 0o600, "the original stays as it was");
});

test("read-only files and folders have read-only modes, copied or moved", async (t) => {
  const { root, given } = folders(t);
  await putInside(root, given, "copied", { readOnly: true });
  await putInside(root, given, "moved", { readOnly: true, move: true });
  assert.equal(existsSync(given), false);
  for (const name of ["copied", "moved"]) {
    assert.deepEqual([mode(join(root, name)), mode(join(root, name, "deep"))], [0o555, 0o555]);
    assert.deepEqual([mode(join(root, name, "deep/file")), mode(join(root, name, "run"))], [0o444, 0o555]);
  }
  chmodSync(join(root, "moved/deep"), 0o755);
  chmodSync(join(root, "copied/deep"), 0o755);
});

test("a file with other hard links is copied even if it may be moved", async (t) => {
  const { root, outside, given } = folders(t);
  linkSync(join(given, "deep/file"), join(outside, "other"));
  await putInside(root, given, "moved", { move: true });
  writeFileSync(join(root, "moved/deep/file"), "changed");
  assert.equal(readFileSync(join(outside, "other"), "utf8"), "given");
});

test("a link in the place of a folder is an error that names it, and is not followed", async (t) => {
  const { root, outside, given } = folders(t);
  symlinkSync(outside, join(root, "way"));
  await assert.rejects(putInside(root, given, "way/copy", {}), /way in way is no folder/);
  await assert.rejects(putInside(root, join(given, "run"), "way/x/run", {}), /way in way\/x is no folder/);
  assert.deepEqual(readdirSync(outside), []);
});

test("a link at the target is replaced, not followed", async (t) => {
  const { root, outside, given } = folders(t);
  writeFileSync(join(outside, "secret"), "untouched");
  symlinkSync(join(outside, "secret"), join(root, "file"));
  symlinkSync(outside, join(root, "folder"));
  await putInside(root, join(given, "deep/file"), "file", {});
  await putInside(root, given, "folder", {});
  assert.equal(readFileSync(join(root, "file"), "utf8"), "given");
  assert.deepEqual(readdirSync(join(root, "folder")), ["deep", "run"]);
  assert.deepEqual(readdirSync(outside), ["secret"]);
  assert.equal(readFileSync(join(outside, "secret"), "utf8"), "untouched");
});

test("compiled files next to a program are left behind", async (t) => {
  const { root, given } = folders(t);
  mkdirSync(join(given, "__pycache__"));
  writeFileSync(join(given, "__pycache__/x.pyc"), "");
  await putInside(root, given, "copied", {});
  await putInside(root, given, "moved", { move: true });
  for (const name of ["copied", "moved"]) assert.deepEqual(readdirSync(join(root, name)), ["deep", "run"]);
});

test("under root added files belong to the sandbox's user, unless they are read-only", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("needs root");
  const { root, given } = folders(t);
  const owner = { uid: 60_700, gid: 60_701 };
  await putInside(root, given, "new/copy", { owner });
  await putInside(root, given, "kept", { owner, readOnly: true });
  await putInside(root, given, "moved", { owner, move: true });
  for (const path of ["new", "new/copy", "new/copy/deep/file", "moved", "moved/deep/file"]) {
    const { uid, gid } = statSync(join(root, path));
    assert.deepEqual({ uid, gid }, owner, path);
  }
  for (const path of ["kept", "kept/deep", "kept/deep/file"]) assert.equal(statSync(join(root, path)).uid, 0);
});
