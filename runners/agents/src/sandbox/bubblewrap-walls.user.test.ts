// The same suite as an unprivileged user, if the tests themselves run as root. Then there are no control
// groups and no separate user for a sandbox, but a user namespace.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { bubblewrapMissing } from "./bubblewrap-abilities.ts";

const suite = fileURLToPath(new URL("./bubblewrap-walls.test.ts", import.meta.url));
const user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];

/** Limits that only root's kernel features hold (docs/security.md). */
const kernelOnly = /no file system can be mounted here|this user may make no control group for memory/;

async function whyNot(): Promise<string | false> {
  if (process.getuid?.() !== 0) return "these tests run as an ordinary user already";
  const missing = await bubblewrapMissing();
  if (missing !== undefined) return missing;
  const [setpriv, ...rest] = [...user, process.execPath, "--check", suite];
  return spawnSync(setpriv!, rest).status === 0
    ? false
    : "user 65534 cannot read this checkout, or has no setpriv";
}

test("an ordinary user's sandbox passes the same suite as root's", { skip: await whyNot() }, () => {
  const folder = mkdtempSync(join(tmpdir(), "walls-user-"));
  chmodSync(folder, 0o777);
  try {
    const [setpriv, ...rest] = [...user, process.execPath, "--test", "--test-reporter=tap", suite];
    const { status, stdout } = spawnSync(setpriv!, rest, {
      encoding: "utf8",
      env: { PATH: process.env.PATH ?? "", TMPDIR: folder, HOME: folder },
      maxBuffer: 1 << 28,
    });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /bubblewrap under an ordinary user/);
    const skipped = stdout.split("\n").filter((line) => /# SKIP/.test(line));
    for (const line of skipped) assert.match(line, kernelOnly);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
