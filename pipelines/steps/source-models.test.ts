// Gives downloaded models names, from the manifest of a collecting stage.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const root = mkdtempSync(join(tmpdir(), "mlrb-source-models-"));
after(() => rmSync(root, { recursive: true }));

function give(models: Record<string, string>) {
  const at = mkdtempSync(join(root, "run-"));
  for (const [folder, file] of [
    ["whole", "config.json"],
    ["rows", "rows.parquet"],
  ] as const) {
    mkdirSync(join(at, folder));
    writeFileSync(join(at, folder, file), folder);
  }
  const member = (source: string, path?: string) => ({
    ...{
      stage: `download[source=${source}]`,
      name: "download",
      axes: { task: "t", source },
      outcome: path ? "succeeded" : "failed",
      cause: path ? "" : "exit code 1",
    },
    artifacts: path ? { files: { path, kind: "dir", digest: "d" } } : {},
  });
  const members = [member("phi-2", "whole"), member("mmlu", "rows"), member("broken")];
  writeFileSync(join(at, "manifest.json"), JSON.stringify({ formatVersion: 1, members }));
  mkdirSync(join(at, "models"));
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      join(import.meta.dirname, "source-models.ts"),
      ...["--param", `models=${JSON.stringify(models)}`],
      ...["--input", `manifest=${join(at, "manifest.json")}`, "--output", `models=${join(at, "models")}`],
    ],
    { encoding: "utf8" },
  );
  return { status, stderr, read: (path: string) => readFileSync(join(at, "models", path), "utf8") };
}

test("each model is the folder of its source, under the name that the task gives it", () => {
  const made = give({ base: "phi-2", again: "phi-2" });
  assert.equal(made.status, 0, made.stderr);
  assert.equal(made.read("base/config.json") + made.read("again/config.json"), "wholewhole");
});

test("a source that is not listed, not downloaded or no model ends the stage with its name and the cause", () => {
  for (const [source, cause] of [
    ["mistral", /the source mistral is not downloaded: task\.yaml does not name it in downloads/],
    ["broken", /the source broken is not downloaded: exit code 1; run the pipeline without --only/],
    ["mmlu", /the source mmlu has no config\.json: it is no model/],
  ] as const) {
    const made = give({ base: source });
    assert.equal(made.status, 1);
    assert.match(made.stderr, cause);
  }
});
