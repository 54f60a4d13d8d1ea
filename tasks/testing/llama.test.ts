// The Llama that the scripted agents use in place of transformers', and what their start must not import.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";
import { testPython } from "../../scorers/testing/submissions.ts";
import { assertTestsRan } from "../../tests/support/python-tests-ran.ts";
import { runTaskPython } from "./run-script.ts";

test("the written-out Llama computes, learns and stores what transformers' does", () => {
  const ran = runTaskPython(["testing/test_llama.py"]);
  assert.equal(ran.status, 0, ran.stderr);
  assertTestsRan(ran.stderr, 3);
});

test("neither a script's start nor the reading of a header imports what takes seconds", () => {
  const root = resolve(import.meta.dirname, "../..");
  const imported = (imports: string, unwanted: string[], path: string) =>
    spawnSync(
      testPython(),
      ["-c", `import sys\n${imports}\nprint(*{*${JSON.stringify(unwanted)}} & {*sys.modules})`],
      {
        encoding: "utf8",
        env: { PATH: process.env.PATH, PYTHONPATH: resolve(root, path), PYTHONDONTWRITEBYTECODE: "1" },
      },
    );
  const script = imported(
    "import library.llama, library.pretrain",
    ["transformers", "peft", "pandas"],
    "tasks",
  );
  assert.deepEqual([script.stdout, script.status], ["\n", 0], script.stderr);
  const weights = `from safetensors.numpy import save_file; import numpy, tempfile; from pathlib import Path
with tempfile.TemporaryDirectory() as place:
    save_file({"w": numpy.zeros((2, 3), "float32")}, f"{place}/model.safetensors")
    from mlrb_kit.stored import read_stored
    assert read_stored(Path(place)).parameters == 6`;
  const header = imported(weights, ["torch"], "runners/kit/python");
  assert.deepEqual([header.stdout, header.status], ["\n", 0], header.stderr);
});
