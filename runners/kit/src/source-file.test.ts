import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { sourceFile, sourceFolder } from "./source-file.ts";

function withStage(files: string[], body: () => void): void {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-kit-"));
  const context = {
    formatVersion: 1,
    stage: "score",
    axes: {},
    params: {},
    inputs: {},
    outputs: {},
    files,
    budget: {},
  };
  writeFileSync(join(folder, "stage.json"), JSON.stringify(context));
  process.env.MLRB_STAGE = join(folder, "stage.json");
  try {
    body();
  } finally {
    delete process.env.MLRB_STAGE;
    rmSync(folder, { recursive: true });
  }
}

test("a declared file is found by name or pattern, relative to the root or absolute", () => {
  withStage(["scorers/x/*.py", "data/words.txt"], () => {
    assert.equal(sourceFile("scorers/x/measure.py"), join(process.cwd(), "scorers/x/measure.py"));
    assert.equal(sourceFile(join(process.cwd(), "data/words.txt")), join(process.cwd(), "data/words.txt"));
  });
});

test("an undeclared file is refused with the stage, the file and the way out", () => {
  withStage(["scorers/x/*.py"], () => {
    assert.throws(
      () => sourceFile("scorers/y/measure.py"),
      /score uses scorers\/y\/measure\.py.*add it in the pipeline/,
    );
    assert.throws(() => sourceFile("scorers/x/deep/measure.py"), /does not name/);
    assert.throws(() => sourceFile("/etc/hostname"), /does not name/);
  });
});

test("a folder for an agent must be declared whole", () => {
  withStage(["tasks/x/scripts/**", "./tasks//y/**", "tasks/z/*"], () => {
    for (const folder of ["tasks/x/scripts", "tasks/x/scripts/deep", "tasks/y/"])
      assert.equal(sourceFolder(folder), resolve(folder));
    for (const folder of ["tasks/x", "tasks/x/scripts-of-another", "tasks/z"])
      assert.throws(
        () => sourceFolder(folder),
        /score hands over tasks\/[xz].*add tasks\/.*\/\*\* in the pipeline/,
      );
  });
});

test("by hand everything is allowed", () => {
  assert.equal(sourceFile("any/thing.py"), join(process.cwd(), "any/thing.py"));
});
