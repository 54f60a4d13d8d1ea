// gpu_check.py as a whole: on the CPU in place of the GPU, with the double of nvidia-smi.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { testPython } from "../../scorers/testing/submissions.ts";
import { fakeGpus, fakeNvidia } from "../support/machines/fake-nvidia.ts";

const folder = mkdtempSync(join(tmpdir(), "gpu-check-"));
after(() => rmSync(folder, { recursive: true }));

test("a rehearsal does one of each comparison but that of an allocation, and all are within their tolerance", () => {
  const { bin } = fakeNvidia(join(folder, "nvidia"), fakeGpus(1));
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env.PATH}`,
    MLRB_GPU_LEASES: join(folder, "leases"),
  };
  const script = join(import.meta.dirname, "gpu_check.py");
  const { status, stdout, stderr } = spawnSync(testPython(), [script, "--rehearse"], {
    encoding: "utf8",
    env,
  });
  assert.equal(status, 0, stdout + stderr);
  const [head, , ...rows] = stdout.trimEnd().split("\n");
  assert.equal(head, "rehearsal on the CPU: nothing here is about a GPU");
  assert.deepEqual(
    rows.map((row) => [row.split(/ {2,}/)[0], row.split(/ {2,}/).at(-1)]),
    [
      "training, script-strong, seed 1",
      ...["score bits-per-byte", "look-ahead, bfloat16", "memory rule"],
      "look-ahead, attention in both directions",
      "leases of two runs",
    ].map((name) => [name, "ok"]),
  );
});
