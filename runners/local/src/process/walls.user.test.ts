// The same tests as an unprivileged user, if the tests themselves run as root. Then there are no control groups
// and no user of its own for a stage, but a user namespace.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const tests = fileURLToPath(new URL("./walls.test.ts", import.meta.url));

function asUser(args: string[], folder: string) {
  const user = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
  return spawnSync("setpriv", [...user, ...args], {
    encoding: "utf8",
    env: { PATH: process.env.PATH ?? "", TMPDIR: folder, HOME: folder },
    maxBuffer: 1 << 28,
  });
}

function whyNot(): string | false {
  if (process.getuid?.() !== 0) return "these tests run as an ordinary user already";
  if (asUser(["unshare", "--user", "--pid", "--fork", "true"], tmpdir()).status !== 0)
    return "an ordinary user may have no namespaces here";
  return asUser([process.execPath, "--check", tests], tmpdir()).status === 0
    ? false
    : "user 65534 cannot read this checkout, or has no setpriv";
}

test("an ordinary user's walls pass the same tests as root's", { skip: whyNot() }, () => {
  const folder = mkdtempSync(join(tmpdir(), "walls-user-"));
  chmodSync(folder, 0o777);
  try {
    const args = ["--test", "--test-reporter=tap", tests];
    const { status, stdout } = asUser([process.execPath, ...args], folder);
    assert.equal(status, 0, stdout);
    assert.match(stdout, /forked, an ordinary user/);
    for (const [line] of stdout.matchAll(/^.*# SKIP.*$/gm))
      assert.match(line, /this user may make no control group/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
