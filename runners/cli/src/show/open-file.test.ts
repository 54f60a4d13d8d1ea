import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openFile } from "./open-file.ts";

/** A machine whose opener is `script`; without it there is no opener. */
function machine(t: TestContext, script?: string): string {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-open-"));
  const { PATH } = process.env;
  t.after(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });
  if (script !== undefined) {
    const name = process.platform === "darwin" ? "open" : "xdg-open";
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  process.env.PATH = script === undefined ? folder : `${folder}:${PATH}`;
  return folder;
}

test("the desktop's opener receives the file", async (t) => {
  const folder = machine(t, 'printf %s "$1" > "$(dirname "$0")/opened"');
  assert.equal(await openFile("/some/a report.md"), undefined);
  assert.ok(existsSync(join(folder, "opened")));
  assert.equal(readFileSync(join(folder, "opened"), "utf8"), "/some/a report.md");
});

test("a failing and a missing opener are reported", async (t) => {
  machine(t, "exit 3");
  assert.match((await openFile("/some/report.md"))!, /ended with 3/);
  machine(t);
  assert.match((await openFile("/some/report.md"))!, /cannot be started: .*ENOENT/);
});
