import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

/** The answer of a process that finds only these programs. */
function missing(t: TestContext, programs: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "abilities-"));
  t.after(() => rmSync(folder, { recursive: true }));
  symlinkSync("/bin/sh", join(folder, "sh"));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const module = new URL("./bubblewrap-abilities.ts", import.meta.url).href;
  const code = `const { bubblewrapMissing } = await import(${JSON.stringify(module)}); console.log(await bubblewrapMissing());`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", code], {
    env: { PATH: folder },
    encoding: "utf8",
  }).trim();
}

const linux = { skip: process.platform === "linux" ? false : "there is no bubblewrap but on Linux" };

test("without bubblewrap the message names the package to install", linux, (t) => {
  assert.equal(
    missing(t, {}),
    "bubblewrap cannot be used here: bwrap is not installed; install the package bubblewrap of this system, e.g. `apt install bubblewrap`, or without root `conda install -c conda-forge bubblewrap`",
  );
});

test("a bubblewrap that is too old is refused with its version", linux, (t) => {
  const old = 'case "$1" in --help) echo "--unshare-all";; *) echo "bubblewrap 0.4.1";; esac';
  assert.match(
    missing(t, { bwrap: old }),
    /it is 0\.4\.1, and 0\.5 or newer is needed; use `executor: docker`/,
  );
});

test(
  "a system that forbids namespaces is reported in its own words, with the settings that allow them",
  linux,
  (t) => {
    const forbidden =
      'case "$1" in --help) echo "--clearenv --perms --size";; --version) echo "bubblewrap 0.8.0";; *) echo "bwrap: No permissions to create new namespace" >&2; exit 1;; esac';
    assert.match(
      missing(t, { bwrap: forbidden }),
      /it says "bwrap: No permissions to create new namespace"; .*(CAP_SYS_ADMIN|max_user_namespaces).*or use `executor: docker`/,
    );
  },
);
