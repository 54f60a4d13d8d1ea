// Harbor, whose format ATIF is, judges our exports of attempts that were really made.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { keptRecords } from "../support/attempts/kept-records.ts";
import { foreignPython } from "../support/machines/foreign-software.ts";
import { startProgram } from "../support/run-program.ts";

const { path: python, skip } = await foreignPython(["harbor==0.24.0"], { python: 12 });
const kept = keptRecords();
const folder = mkdtempSync(join(tmpdir(), "mlrb-harbor-"));
after(() => {
  kept.remove();
  rmSync(folder, { recursive: true, force: true });
});

const judge = `
import sys
from harbor.utils.trajectory_validator import TrajectoryValidator
for path in sys.argv[1:]:
    validator = TrajectoryValidator()
    print(validator.validate(path), validator.errors)
`;

test("Harbor's own validator accepts the exports of a script, a model, a replay and a coding CLI", {
  skip,
}, async () => {
  const args = ["attempts", "export", "kept", "--format", "atif", "--output", `${folder}/`];
  const said = await startProgram(kept.repository.path, [...args, "--root", kept.root()]).ended;
  assert.equal(said.code, 0, said.stderr);
  const files = readdirSync(folder).map((name) => join(folder, name));
  assert.equal(files.length, 4);
  const { stdout, stderr } = spawnSync(python!, ["-c", judge, ...files], { encoding: "utf8" });
  assert.deepEqual(stdout.trim().split("\n"), Array(4).fill("True []"), stderr);
});
