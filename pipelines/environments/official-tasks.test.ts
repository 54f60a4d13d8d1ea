// Builds the environment of the official task package (once, with a network) and reads its tasks.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ensureEnvironment } from "../../scripts/ensure-environment.ts";

const names = [
  "llm_efficiency",
  "baby_lm",
  "mini_pile",
  "llm_merging",
  "edge_llm_compression",
  "edge_llm_training",
  "math_reasoning",
];

// get_task prints and changes the working directory: the answer goes to stderr, the folders are absolute
const program = `
import json, sys
from mlrb_agent_tasks import get_task
root, names = sys.argv[1], sys.argv[2:]
json.dump({name: get_task(f"{root}/{name}", "full_benchmark", name) for name in names}, sys.stderr)
`;

test("the official package has a prompt for each of the seven official names, and an error for others", async (t) => {
  const python = await ensureEnvironment("pipelines/environments/official-tasks.lock");
  const root = mkdtempSync(join(tmpdir(), "official-tasks-"));
  t.after(() => rmSync(root, { recursive: true }));
  const { status, stderr } = spawnSync(python, ["-c", program, root, ...names, "no_such_task"], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  const tasks = JSON.parse(stderr) as Record<string, { prompt?: string; error?: string }>;
  for (const name of names) assert.ok((tasks[name]?.prompt ?? "").length > 500, name);
  assert.equal(new Set(names.map((name) => tasks[name]!.prompt)).size, names.length);
  assert.equal(tasks.no_such_task?.prompt, undefined);
  assert.match(tasks.no_such_task?.error ?? "", /no_such_task/);
});
