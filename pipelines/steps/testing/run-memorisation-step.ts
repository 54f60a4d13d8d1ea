// Runs the steps memorisation.py and reference_memorisation.py by hand, for tests.
import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { type MemorisationFile, memorisation } from "@mlrb/formats/judged/memorisation";
import { mustFollow } from "@mlrb/formats/read-format";
import { readJson } from "@mlrb/kit/json-file";
import { runPython } from "../../../scorers/testing/measure.ts";

const repository = resolve(import.meta.dirname, "../../..");

/** Runs a Python program of pipelines/steps. */
export function runStepProgram(program: string, args: string[]): void {
  const ran = runPython(join(repository, "pipelines/steps", program), args);
  assert.equal(ran.status, 0, ran.stderr);
}

/** `file` gets the result. */
export function runMemorisationStep(
  program: "memorisation.py" | "reference_memorisation.py",
  inputs: Record<string, string>,
  file: string,
): MemorisationFile {
  runStepProgram(program, [
    ...Object.entries(inputs).flatMap(([name, path]) => ["--input", `${name}=${path}`]),
    ...["--output", `memorisation=${file}`],
  ]);
  return mustFollow(memorisation, readJson(file), file);
}
