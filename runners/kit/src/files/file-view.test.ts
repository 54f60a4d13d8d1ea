// When two views of folders are equal.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileView } from "./file-view.ts";

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "mlrb-view-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  mkdirSync(join(made, "out/deep"), { recursive: true });
  writeFileSync(join(made, "out/deep/a"), "12345");
  return made;
}

test("a file that is missing, has another name or another size changes the view", (t) => {
  const at = folder(t);
  const digest = () => fileView(at, ["out", "log"]).digest;
  const seen = [digest()];
  writeFileSync(join(at, "out/b"), "");
  seen.push(digest());
  writeFileSync(join(at, "out/b"), "1");
  seen.push(digest());
  renameSync(join(at, "out/b"), join(at, "out/c"));
  seen.push(digest());
  renameSync(join(at, "out/c"), join(at, "out/deep/c"));
  seen.push(digest());
  writeFileSync(join(at, "log"), "");
  seen.push(digest());
  assert.equal(new Set(seen).size, seen.length);
});

test("what is not an entry does not count, and the view of an unchanged folder is the same", (t) => {
  const at = folder(t);
  const before = fileView(at, ["out"]);
  writeFileSync(join(at, "log"), "more");
  assert.deepEqual(fileView(at, ["out"]), before);
  assert.deepEqual({ ...before, digest: undefined }, { files: 1, bytes: 5, digest: undefined });
});

test("a sparse file and a name that is not UTF-8 are seen as they are", (t) => {
  const at = folder(t);
  truncateSync(join(at, "out/deep/a"), 2 ** 40);
  const odd = (byte: number) => Buffer.concat([Buffer.from(join(at, "out/")), Buffer.from([byte])]);
  writeFileSync(odd(0xff), "1");
  const before = fileView(at, ["out"]);
  assert.equal(before.bytes, 2 ** 40 + 1);
  renameSync(odd(0xff), odd(0xfe));
  assert.notEqual(fileView(at, ["out"]).digest, before.digest);
});
