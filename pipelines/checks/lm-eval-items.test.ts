import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pythonPath } from "@mlrb/kit/python-path";
import { makeSubmissions, testPython } from "../../scorers/testing/submissions.ts";
import { warmArguments } from "../../tests/support/warm-python.ts";

const repository = resolve(import.meta.dirname, "../..");
const temporary = mkdtempSync(join(tmpdir(), "lm-eval-items-"));
const made = join(temporary, "made");
before(() => {
  mkdirSync(made);
  makeSubmissions(made);
});
after(() => rmSync(temporary, { recursive: true }));

/** Runs the check on a folder of models. */
function check(models: string) {
  const output = `${models}.txt`;
  const script = join(repository, "pipelines/checks/lm_eval_items.py");
  const flags = ["--input", `published=${models}`, "--output", `check=${output}`];
  const ran = spawnSync(testPython(), warmArguments([script, ...flags]), {
    cwd: repository,
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH: pythonPath(repository), OMP_NUM_THREADS: "1" },
  });
  return { ...ran, output };
}

test("each model answers ten items, the longest of which is cut to what the model reads", () => {
  const models = join(temporary, "good");
  cpSync(join(made, "tiny"), join(models, "small"), { recursive: true });
  const { status, stderr, output } = check(models);
  assert.equal(status, 0, stderr);
  assert.match(readFileSync(output, "utf8"), /^small: 10 items in [\d.]+ s, on cpu\n$/);
});

test("a model that the memory cannot hold fails the check by its name, and the others are still tried", () => {
  const models = join(temporary, "large");
  for (const name of ["a-large", "b-small"])
    cpSync(join(made, "tiny"), join(models, name), { recursive: true });
  truncateSync(join(models, "a-large/model.safetensors"), 2 ** 42); // a hole
  const { status, stdout, stderr, output } = check(models);
  assert.equal(status, 1);
  assert.match(stdout, /^b-small: 10 items in /m);
  assert.match(
    stderr,
    /^a-large: out of memory on cpu: the model needs 4096\.\d GiB.*; look at the device's memory \(nvidia-smi\)/m,
  );
  assert.ok(!existsSync(output));
});
