// Checks what .ci/run installs before the tests, with fake programs instead of real installers.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";

const script = join(import.meta.dirname, "..", ".ci", "run");
const tests = "npx -y pnpm@10.34.9 test --thorough";

/** The calls and the output of .ci/run. `installed` are packages, `apt` is the behaviour of apt-get. */
function ran(t: TestContext, { user = 0, installed = [] as string[], apt = "true" as string | null }) {
  const folder = mkdtempSync(join(tmpdir(), "ci-run-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const calls = join(folder, "calls");
  writeFileSync(calls, "");
  const program = (name: string, text: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  };
  program("id", `echo ${user}`);
  program("npx", `echo "npx $*" >> ${calls}`);
  const known = installed.map((name) => `*" ${name}") echo 'install ok installed' ;;`).join("\n");
  program("dpkg-query", `case " $*" in\n${known}\n*) echo "no package"; exit 1 ;;\nesac`);
  if (apt !== null) program("apt-get", `echo "apt-get $*" >> ${calls}\n${apt}`);
  for (const tool of ["bash", "dirname", "grep", "tail"]) {
    const from = process.env.PATH!.split(delimiter).find((place) => existsSync(join(place, tool)));
    symlinkSync(join(from!, tool), join(folder, tool));
  }
  const { status, stdout, stderr } = spawnSync(join(folder, "bash"), [script], {
    encoding: "utf8",
    timeout: 30_000,
    env: { PATH: folder },
  });
  assert.equal(status, 0, stdout + stderr);
  return { calls: readFileSync(calls, "utf8").trimEnd().split("\n"), said: stdout };
}

const all = [
  ...["texlive-latex-recommended", "texlive-science", "lmodern", "poppler-utils"],
  "chromium",
  ...["docker.io", "bubblewrap", "busybox-static"],
  ...["nginx-light", "lighttpd", "lighttpd-mod-webdav", "openssh-client"],
  ...["slurm-wlm", "munge", "slurmdbd", "mariadb-server"],
];

test("an installed package is not installed again", (t) => {
  assert.deepEqual(ran(t, { installed: all }).calls, [tests]);
});

test("only missing packages are installed, before the tests run", (t) => {
  const { calls, said } = ran(t, { installed: all.filter((name) => name !== "lmodern") });
  assert.equal(calls.length, 3);
  assert.match(calls[0]!, /^apt-get .*update$/);
  assert.match(calls[1]!, /install -y --no-install-recommends lmodern$/);
  assert.equal(calls[2], tests);
  assert.equal(said, "");
});

test("without the right to install, or without apt, the tests still run", (t) => {
  assert.deepEqual(ran(t, { user: 1000 }).calls, [tests]);
  assert.deepEqual(ran(t, { apt: null }).calls, [tests]);
});

test("a failed installation is reported and does not stop the tests", (t) => {
  const { calls, said } = ran(t, { apt: "echo 'no network' >&2; exit 100" });
  assert.equal(calls.at(-1), tests);
  assert.match(said, /some tests will skip: texlive-latex-recommended .* poppler-utils\nno network/);
  assert.match(said, /some tests will skip: chromium/);
  assert.match(said, /some tests will skip: docker.io bubblewrap busybox-static/);
});
