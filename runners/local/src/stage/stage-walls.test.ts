// The limits of a stage's walls.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { memoryFor } from "./stage-walls.ts";

test("the memory of this machine bounds a stage that runs here, and no stage that runs on a node", (t) => {
  const work = mkdtempSync(join(tmpdir(), "mlrb-walls-"));
  t.after(() => rmSync(work, { recursive: true }));
  mkdirSync(join(work, "in"));
  writeFileSync(join(work, "in/weights"), "");
  truncateSync(join(work, "in/weights"), totalmem()); // sparse
  const on = (executor: string) => {
    const execution = { executor, resources: { memoryBytes: 2 ** 30 } } as Instance["execution"];
    return memoryFor({ execution }, work);
  };
  assert.ok(on("slurm") >= 2 * totalmem());
  for (const here of ["local", "docker"]) assert.equal(on(here), Math.floor(0.9 * totalmem()));
});
