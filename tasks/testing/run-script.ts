// Runs Python programs of tasks as an attempt does, in a workspace of their own.
import { spawnSync } from "node:child_process";
import { delimiter, join, resolve } from "node:path";
import { testPython } from "../../scorers/testing/submissions.ts";
import { warmArguments } from "../../tests/support/warm-python.ts";

const tasks = resolve(import.meta.dirname, "..");

/** The files in the submission of a agent that trains a model. */
export const submissionFiles = [
  "config.json",
  "model.safetensors",
  "provenance.json",
  "tokenizer.json",
  "tokenizer_config.json",
];

type Settings = {
  cwd?: string;
  /** More folders to import modules from. */
  path?: string[];
  env?: Record<string, string>;
};

/** `command` is a script of the folder `tasks`, with its arguments. */
export function runTaskPython([script = "", ...more]: string[], { cwd, path = [], env }: Settings = {}) {
  return spawnSync(testPython(), warmArguments([join(tasks, script), ...more]), {
    ...(cwd !== undefined && { cwd }),
    encoding: "utf8",
    env: {
      PATH: process.env.PATH,
      PYTHONPATH: [tasks, ...path].join(delimiter),
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONHASHSEED: "0",
      OMP_NUM_THREADS: "1",
      ...env,
    },
  });
}

type Attempt = { agent: string; workspace: string; seed?: string };

/** Runs a agent for at most `seconds`; with none left it submits what it can without training. */
export function runScript(task: string, { agent, workspace, seed = "1" }: Attempt, seconds: number) {
  const submission = join(workspace, "submission");
  const env = {
    MLRB_TASK: task,
    MLRB_SEED: seed,
    MLRB_DEADLINE: String(Math.floor(Date.now() / 1000) + seconds),
    MLRB_SUBMISSION: submission,
  };
  const ran = runTaskPython([`${task}/scripts/${agent}.py`], { cwd: workspace, env });
  return { submission, status: ran.status, stdout: ran.stdout, stderr: ran.stderr };
}

export function runPastDeadline(task: string, attempt: Attempt) {
  return runScript(task, attempt, 0);
}
