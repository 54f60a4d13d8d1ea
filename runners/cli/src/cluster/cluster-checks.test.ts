// What doctor says of a node that does not share this host's disk, with stubs of Slurm's programs.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { clusterChecks } from "./cluster-checks.ts";

test("a node that does not share this host's disk is missing, with what jobs need", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "mlrb-doctor-"));
  t.after(() => removeFolder(root));
  const bin = join(root, "bin");
  mkdirSync(bin);
  const programs = {
    sinfo: "echo 'main*|infinite'",
    // Slurm cannot open the job's output on the node: nothing of the job begins
    sbatch: `cat > /dev/null; for a; do case "$a" in --job-name=*) echo "\${a#--job-name=}" > '${bin}/name';; esac; done; echo 7`,
    squeue: `echo "7|FAILED|NonZeroExitCode|n1|main|$(cat '${bin}/name')|1 doctor"`,
    sacct: "exit 1",
    scancel: "true",
  };
  for (const [name, line] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const jobs = {
    ...{ python: false, gpus: 0, offline: [], walled: [], contained: [], attempts: [] },
    ...{ weakLimits: false, stages: ["data"], attemptMs: 0, slurm: {} },
    most: { cpus: 1, limits: {}, memoryBytes: 0 },
  };
  const checks = await clusterChecks([jobs], {
    ...{ repository: root, root, here: { python: undefined, processor: "any" } },
    env: { PATH: `${bin}${delimiter}${process.env.PATH}` },
  });
  const { name, answer, found, help } = checks.at(-1)!;
  assert.deepEqual([name, answer], ["node's shared disk", "missing"]);
  assert.match(found, /^a small job failed: .* does the node share this disk \(\.mlrb\)\?$/);
  assert.match(help ?? "", /^jobs need a disk that this host and the nodes share: /);
  assert.ok(!existsSync(join(root, ".mlrb")), "doctor leaves nothing behind");
});
