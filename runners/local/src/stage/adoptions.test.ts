// One living run at a time waits for what a dead run left, and the dead run's folder stays for it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { thisProcess } from "../leases/owner.ts";
import { takeLeft } from "./adoptions.ts";
import { beginWork, clearDeadWork, endWork, executorsLeft, markElsewhere } from "./work-folders.ts";

/** A state folder's work folder with the folder of the dead run `dead`, whose job may go on. */
function lab(t: TestContext): string {
  const state = mkdtempSync(join(tmpdir(), "mlrb-adopt-"));
  t.after(() => rmSync(state, { recursive: true, force: true }));
  const work = join(state, "work");
  for (const folder of ["work/dead", "leases", "running", "cache/blobs"])
    mkdirSync(join(state, folder), { recursive: true });
  writeFileSync(join(work, "dead/owner.json"), JSON.stringify({ ...thisProcess(), started: "another" }));
  markElsewhere(join(work, "dead"), "slurm");
  return work;
}

/** Another process whose run has taken the dead run's job 1. */
async function adopter(t: TestContext, work: string) {
  const run = spawn(process.execPath, [
    ...["--input-type=module", "--eval"],
    `import { beginWork } from "${join(import.meta.dirname, "work-folders.ts")}";
import { takeLeft } from "${join(import.meta.dirname, "adoptions.ts")}";
beginWork("${work}", "other");
console.log(takeLeft("${work}", { from: "dead", name: "1", run: "other" }));
setInterval(() => {}, 1000);`,
  ]);
  t.after(() => run.kill("SIGKILL"));
  const [said] = await once(run.stdout, "data");
  assert.equal(String(said), "true\n");
  return run;
}

test("what a living run has taken is free again once that run is dead", async (t) => {
  const work = lab(t);
  const own = beginWork(work, "own");
  t.after(() => endWork(own));
  const other = await adopter(t, work);
  assert.equal(takeLeft(work, { from: "dead", name: "1", run: "own" }), false);
  assert.equal(takeLeft(work, { from: "dead", name: "2", run: "own" }), true);
  await clearDeadWork(work, { cleared: ["slurm"] });
  assert.ok(existsSync(join(work, "dead")), "another run waits for a job that writes there");
  other.kill("SIGKILL");
  await once(other, "exit");
  assert.equal(takeLeft(work, { from: "dead", name: "1", run: "own" }), true);
  assert.equal(takeLeft(work, { from: "dead", name: "1", run: "own" }), true, "it has it already");
  await clearDeadWork(work, { cleared: ["slurm"] });
  assert.ok(!existsSync(join(work, "dead")), "what this run has taken has ended");
});

test("nothing is taken from a folder that is gone, and the folder is not made again", (t) => {
  const work = lab(t);
  assert.equal(takeLeft(work, { from: "gone", name: "1", run: "dead" }), false);
  assert.ok(!existsSync(join(work, "gone")));
});

test("jobs of a silent host's run are looked for once --take-over has removed its card", (t) => {
  const work = lab(t);
  rmSync(join(work, "dead/owner.json"));
  assert.deepEqual(executorsLeft(work), ["slurm"]);
});
