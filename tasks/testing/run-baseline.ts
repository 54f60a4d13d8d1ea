// Runs a task's scripted baseline as an attempt does, in a workspace of its own, after its deadline: what
// it then hands in is what it always can.
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { warmArguments } from "../../tests/support/warm-python.ts";

/** What a whole submission of a baseline that trains a model of its own holds. */
export const submissionFiles = [
  "config.json",
  "model.safetensors",
  "provenance.json",
  "tokenizer.json",
  "tokenizer_config.json",
];

export function runPastDeadline(
  task: string,
  { baseline, workspace }: { baseline: string; workspace: string },
) {
  const tasks = resolve(import.meta.dirname, "..");
  const submission = join(workspace, "submission");
  const ran = spawnSync(testPython(), warmArguments([join(tasks, task, `baselines/${baseline}.py`)]), {
    cwd: workspace,
    encoding: "utf8",
    env: {
      PATH: process.env.PATH,
      PYTHONPATH: tasks,
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONHASHSEED: "0",
      OMP_NUM_THREADS: "1",
      MLRB_TASK: task,
      MLRB_SEED: "1",
      MLRB_DEADLINE: String(Math.floor(Date.now() / 1000)),
      MLRB_SUBMISSION: submission,
    },
  });
  return { submission, status: ran.status, stdout: ran.stdout, stderr: ran.stderr };
}

/** Throws, saying how to come by one, where there is none. */
export function testPython(): string {
  const found = process.env.MLRB_PYTHON;
  if (found) return found;
  throw new Error(
    "these tests train and need MLRB_PYTHON: the python of an environment made from " +
      "pipelines/environments/ml.lock (`pnpm test` makes one and sets it)",
  );
}
