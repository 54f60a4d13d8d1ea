import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { beginRestore, leftSandbox, removeCutRestores } from "./left-sandbox.ts";

test("a restore that was cut short counts as no files, and is removed", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "left-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const work = (name: string) => join(folder, `attempt-${name}`);
  for (const name of ["cut", "whole"])
    mkdirSync(join(work(name), "sandbox-1/workspace"), { recursive: true });
  beginRestore(work("cut"));
  beginRestore(work("whole"))();
  assert.equal(leftSandbox(folder)?.work, work("whole"));
  rmSync(work("whole"), { recursive: true });
  assert.equal(leftSandbox(folder), undefined);
  await removeCutRestores(folder);
  assert.equal(existsSync(work("cut")), false);
});
