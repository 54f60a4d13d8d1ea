import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { machineFailure } from "./carried-out.ts";
import { systemCode } from "./machine-help.ts";

const error = (code: string | undefined, message: string): NodeJS.ErrnoException =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

test("a link to nothing in place of a folder is named as one", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-link-"));
  t.after(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(folder, "missing"), join(folder, "environments"));
  try {
    mkdirSync(join(folder, "environments"));
    assert.fail("the folder was made");
  } catch (caught) {
    const failed = machineFailure(caught as NodeJS.ErrnoException);
    assert.match(failed.kind === "failed" ? failed.detail : "", /link to nothing, not a folder; remove it/);
  }
});

test("an error that Node's rm describes only in words has a way out too", () => {
  // as Node 26 throws it
  const failed = machineFailure(error("", ", Unknown error: Read-only file system '/state/blob'"));
  assert.match(
    failed.kind === "failed" ? failed.detail : "",
    /^the file system is read-only; choose another --root/,
  );
  assert.equal(systemCode(error("", ", Unknown error: No space left on device '/x'")), "ENOSPC");
  assert.equal(systemCode(error("EACCES", "EACCES, Permission denied: '/x'")), "EACCES");
  assert.equal(systemCode(error(undefined, "a bug: No space left on device")), undefined);
});
