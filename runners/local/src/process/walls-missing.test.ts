import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { wallsMissing } from "./walls.ts";

test("a machine that is too busy for a trial of walls is named so, not one that forbids them", {
  skip: process.platform !== "linux" && "walls need Linux",
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "busy-"));
  const path = process.env.PATH;
  t.after(() => {
    process.env.PATH = path;
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, "python3"), "#!/bin/sh\nexec sleep 30\n");
  chmodSync(join(folder, "python3"), 0o755);
  process.env.PATH = `${folder}:${path}`;
  assert.equal(
    await wallsMissing(200),
    "no walls can be built here: a trial did not end within 0.2 s, as on a machine that is too busy: run again",
  );
});
