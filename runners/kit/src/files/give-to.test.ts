import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { giveTo, makeReadable } from "./give-to.ts";

/** Names that untrusted code may choose: bytes that are no UTF-8, and a path of more than 4096 bytes. */
function hostileFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-give-"));
  t.after(() => execFileSync("rm", ["-rf", folder]));
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])]), "", { mode: 0o600 });
  mkdirSync(join(folder, "a"), { mode: 0o700 });
  writeFileSync(join(folder, "a/file"), "", { mode: 0o600 });
  symlinkSync("/etc/shadow", join(folder, "a/link"));
  const deeper =
    "import os, sys\nos.chdir(sys.argv[1])\nfor _ in range(25):\n os.mkdir('d' * 200)\n os.chdir('d' * 200)";
  execFileSync("python3", ["-c", deeper, folder]);
  return folder;
}

const mode = (path: string | Buffer) => lstatSync(path).mode & 0o777;

test("names that are no UTF-8 and paths that are too long do not keep others from being readable", (t) => {
  const folder = hostileFolder(t);
  const shadow = mode("/etc/shadow");
  makeReadable(folder);
  assert.equal(mode(join(folder, "a/file")), 0o644);
  assert.equal(mode(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])])), 0o644);
  assert.equal(mode("/etc/shadow"), shadow);
});

test("such names change their owner too, and missing paths are left out", {
  skip: process.getuid?.() === 0 ? false : "only root may change owners",
}, (t) => {
  const folder = hostileFolder(t);
  giveTo([folder, join(folder, "absent")], { uid: 1234, gid: 1234 });
  assert.equal(lstatSync(join(folder, "a/link")).uid, 1234);
  assert.equal(lstatSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])])).uid, 1234);
  assert.equal(lstatSync("/etc/shadow").uid, 0);
  rmSync(join(folder, "a"), { recursive: true });
});
