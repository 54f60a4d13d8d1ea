// Runs the step memory.py by hand, for tests.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type MemoryMeasurement, memory } from "@mlrb/formats/judged/memory";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "@mlrb/kit/json-file";
import { pythonPath } from "@mlrb/kit/python-path";
import { testPython } from "../../../scorers/testing/submissions.ts";

const repository = resolve(import.meta.dirname, "../../..");

type MemoryStep = {
  /** An empty folder for the step's files. */
  at: string;
  submission: string;
  rules: object[];
  /** Fields other than those of an admitted submission. */
  admission?: object;
};

/** What memory.json holds for the smoke data. */
export function runMemoryStep({ at, submission, rules, admission }: MemoryStep): {
  measurements: MemoryMeasurement[];
} {
  const given = { formatVersion: 1, admitted: true, reasons: [], ...admission };
  writeFileSync(join(at, "admission.json"), JSON.stringify(given));
  const file = join(at, "memory.json");
  const flags = [
    ...["--input", `submission=${submission}`, "--input", `admission=${join(at, "admission.json")}`],
    ...["--output", `memory=${file}`, "--param", "data=smoke", "--param", `rules=${JSON.stringify(rules)}`],
  ];
  const ran = spawnSync(testPython(), ["pipelines/steps/memory.py", ...flags], {
    cwd: repository,
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH: pythonPath(repository) },
  });
  assert.equal(ran.status, 0, ran.stderr);
  return mustFollow(memory, readJson(file), file);
}
