import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Instance } from "@mlrb/core/plan/plan";
import { checkFormat } from "@mlrb/formats/read-format";
import { stageContext as format, type SandboxRequest } from "@mlrb/formats/stage/stage-context";
import { stage } from "@mlrb/kit/stage";
import type { Bound } from "../decide/bind-inputs.ts";
import { stageContext } from "./stage-context.ts";

const kit = join(import.meta.dirname, "../../../kit/python");

const instance = {
  id: "attempt[task=words,seed=1]",
  action: {
    params: { deep: [{ a: null }] },
    files: ["tasks/words/**"],
    budget: { timeMs: 1000, dollars: 0.5 },
  },
  execution: { limits: { providerWaitMs: 5000 } },
} as unknown as Instance;
const bound = {
  parts: { axes: { task: "words", seed: 1 }, files: { "tasks/words/a": "…" } },
} as unknown as Bound;
const sandbox: SandboxRequest = {
  executor: "local",
  network: "none",
  limits: { memoryBytes: 1e9, processes: 10, diskBytes: 1e9, cpus: 1 },
  reads: ["/opt"],
  gpus: [{ index: 0, uuid: "GPU-1", model: "H200", memoryBytes: 1e11, driver: "", slice: false }],
  unsafe: false,
  token: "t",
};
const paths = {
  inputs: { public: "/w/in/public", "data.public": "/w/in/public" },
  outputs: { out: "/w/out" },
};

/** As a script in TypeScript and one in Python read it. */
function read(t: TestContext, context: unknown) {
  const folder = mkdtempSync(join(tmpdir(), "stage-context-"));
  const file = join(folder, "stage.json");
  t.after(() => {
    delete process.env.MLRB_STAGE;
    rmSync(folder, { recursive: true });
  });
  writeFileSync(file, JSON.stringify(context));
  process.env.MLRB_STAGE = file;
  const script = `import json
from mlrb_kit.stage import read_stage
s = read_stage()
paths = lambda named: {name: str(path) for name, path in named.items()}
print(json.dumps([s.name, s.params, paths(s.inputs), paths(s.outputs), s.files]))`;
  const env = { PATH: process.env.PATH, PYTHONPATH: kit, PYTHONDONTWRITEBYTECODE: "1", MLRB_STAGE: file };
  const python = spawnSync("python3", ["-c", script], { env, encoding: "utf8" });
  return { typescript: stage, python };
}

test("a context that the runner writes is readable by scripts in TypeScript and in Python", (t) => {
  const context = stageContext(instance, bound, { ...paths, sandbox });
  const { typescript, python } = read(t, context);
  assert.deepEqual(structuredClone({ ...typescript() }.sandbox), sandbox);
  assert.deepEqual(JSON.parse(JSON.stringify(typescript())), JSON.parse(JSON.stringify(context)));
  const told = [context.stage, context.params, context.inputs, context.outputs, context.files];
  assert.deepEqual(JSON.parse(python.stdout || python.stderr), told);
  assert.deepEqual(Object.keys(context.inputs), ["public"]);
});

test("Python needs no field that the format does not require, and refuses another format", (t) => {
  const whole: Record<string, unknown> = stageContext(instance, bound, paths);
  const least = Object.fromEntries(format.required.map((name) => [name, whole[name]]));
  assert.equal(checkFormat(format, least).kind, "ok");
  assert.equal(read(t, least).python.status, 0);
  const later = read(t, { ...least, formatVersion: 2 });
  assert.match(later.python.stderr, /stage context of format 2; this kit reads format 1/);
  assert.throws(later.typescript, /formatVersion is 2, not 1/);
});

test("a context that does not follow its format is a bug that names the field", () => {
  const wrong = { ...paths, sandbox: { ...sandbox, network: "some" } } as never;
  assert.throws(
    () => stageContext(instance, bound, wrong),
    /^Error: bug: the context of attempt\[task=words,seed=1\]: sandbox\.network is "some", not one of none, full, hub$/,
  );
});
