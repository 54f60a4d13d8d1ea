// Whether other users can read the state folder.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { privateStateChecks } from "./private-state.ts";

test("a state folder is open to other users only if each folder on its way is", (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-private-"));
  t.after(() => rmSync(root, { recursive: true }));
  const answers = (umask: number) => privateStateChecks(root, umask).map(({ answer }) => answer);
  chmodSync(root, 0o755);
  assert.deepEqual(answers(0o022), ["note"], "the folder that a run would make");
  assert.deepEqual(answers(0o077), []);
  mkdirSync(join(root, ".mlrb"));
  chmodSync(join(root, ".mlrb"), 0o755);
  assert.deepEqual(answers(0o077), ["note"], "the folder as it is");
  chmodSync(join(root, ".mlrb"), 0o700);
  assert.deepEqual(answers(0o022), []);
  chmodSync(join(root, ".mlrb"), 0o755);
  chmodSync(root, 0o700);
  assert.deepEqual(answers(0o022), []);
});
