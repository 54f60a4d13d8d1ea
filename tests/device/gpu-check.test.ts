// What gpu_check.py compares and how it ends, without a GPU; its leases with the double of nvidia-smi. The whole
// rehearsal is in gpu-check.thorough.test.ts.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { runPythonTests } from "../../scorers/testing/python-tests.ts";
import { testPython } from "../../scorers/testing/submissions.ts";
import { fakeGpus, fakeNvidia } from "../support/machines/fake-nvidia.ts";

const folder = mkdtempSync(join(tmpdir(), "gpu-check-"));
after(() => rmSync(folder, { recursive: true }));
const script = join(import.meta.dirname, "gpu_check.py");
const python = (args: string[], env: Record<string, string> = {}) =>
  spawnSync(testPython(), args, { encoding: "utf8", env: { ...process.env, ...env } });

test("scores, peaks, verdicts and leases are within their tolerances or differ, and the status says which", () => {
  runPythonTests(join(import.meta.dirname, "test_gpu_check.py"), 8, [import.meta.dirname]);
});

test("without a GPU that torch sees nothing is compared, and the status says so", () => {
  const { status, stdout } = python([script], { CUDA_VISIBLE_DEVICES: "" });
  assert.deepEqual([status, stdout], [2, "no GPU that torch sees: nothing compared\n"]);
});

test("two runs hold the one fake GPU one after the other, and without a GPU the leases are not compared", () => {
  const { bin } = fakeNvidia(join(folder, "nvidia"), fakeGpus(1));
  const program = `
import sys
from pathlib import Path
sys.path.insert(0, ${JSON.stringify(import.meta.dirname)})
from gpu_check import Trouble, leases
try:
    print(*leases(Path(sys.argv[1])), sep="; ")
except Trouble as trouble:
    print("trouble:", trouble)
`;
  const at = (name: string, env: Record<string, string>) =>
    python(["-c", program, join(folder, name)], { MLRB_GPU_LEASES: join(folder, "leases"), ...env }).stdout;
  const held = at("held", { PATH: `${bin}:${process.env.PATH}` });
  assert.equal(held, "leases of two runs; 4 stages on 1 GPU, shared: none; 4 stages, none shared; ok\n");
  fakeNvidia(join(folder, "nvidia"), []).fail("no driver", 9);
  assert.match(at("none", { PATH: `${bin}:${process.env.PATH}` }), /^trouble: .*too-few-gpus/);
});
