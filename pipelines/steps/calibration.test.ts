// Runs the calibration by hand on this host's CPU.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { calibration } from "@mlrb/formats/judged/calibration";
import { mustFollow } from "@mlrb/formats/read-format";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { readJson } from "@mlrb/kit/json-file";
import { pythonPath } from "@mlrb/kit/python-path";
import { testPython } from "../../scorers/testing/submissions.ts";
import { warmArguments } from "../../tests/support/warm-python.ts";

const repository = join(import.meta.dirname, "../..");

function calibrate(output: string, env: Record<string, string> = {}) {
  const script = join(import.meta.dirname, "calibration.py");
  const flags = ["--param", "seconds=2", "--output", `calibration=${output}`];
  return spawnSync(testPython(), warmArguments([script, ...flags]), {
    cwd: repository,
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH: pythonPath(repository), ...env },
  });
}

test("a host without a GPU is calibrated on its CPU, and a GPU that torch does not see fails", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-calibration-"));
  t.after(() => removeFolder(folder));
  const file = join(folder, "calibration.json");
  const ran = calibrate(file);
  assert.equal(ran.status, 0, ran.stderr);
  const found = mustFollow(calibration, readJson(file), file);
  assert.equal(found.device, "cpu");
  assert.match(ran.stdout, /^cpu: \d+ tokens\/s in training, [\d.]+ GB\/s of memory$/m);
  const blind = calibrate(join(folder, "none.json"), { MLRB_GPUS: "1", CUDA_VISIBLE_DEVICES: "" });
  assert.notEqual(blind.status, 0);
  assert.match(blind.stderr, /holds 1 GPU\(s\) and torch \S+ sees none/);
});
