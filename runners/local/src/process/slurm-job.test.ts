import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { nodeFlags } from "@mlrb/core/ports/node-flags";
import { removeFolder } from "@mlrb/kit/files/remove-folder";

test("a job that waited in Slurm's queue over an update carries out its stage", (t) => {
  const work = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-old-job-")));
  t.after(() => removeFolder(work));
  const folder = join(work, "jobs/1");
  for (const name of ["jobs/1", "in", "out", "tmp"]) mkdirSync(join(work, name), { recursive: true });
  const request = {
    ...{ id: "one", key: "k", token: "mlrb:old:1:", root: work, work, log: join(work, "log") },
    ...{
      env: { PATH: process.env.PATH },
      run: { kind: "command", command: ["sh", "-c", "echo yes > out/a"] },
    },
    ...{ inputs: {}, outputs: {}, limits: {}, reads: [work], writes: [work], cpus: 1, gpus: [] },
  };
  writeFileSync(join(folder, "request.json"), JSON.stringify(request));
  execFileSync(process.execPath, [...nodeFlags, join(import.meta.dirname, "slurm-job.ts"), folder]);
  assert.equal(JSON.parse(readFileSync(join(folder, "done.json"), "utf8")).result.kind, "succeeded");
  assert.equal(readFileSync(join(work, "out/a"), "utf8"), "yes\n");
});
