// Hostile stages in the program of a Slurm job, without Slurm: they have the walls that they have on any machine.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ExecutionRequest, Running } from "@mlrb/core/ports/executor";
import type { SlurmDone } from "@mlrb/formats/stage/slurm-job";
import { mayLimitMemory } from "@mlrb/kit/processes/control-groups";
import { wallsMissing } from "@mlrb/local/process/walls";
import { greedy, type HostileOptions, hostile, sight } from "@mlrb/local/testing/hostile-stage";

const job = fileURLToPath(new URL("../runners/cli/src/cluster/slurm-job.ts", import.meta.url));
const missing = await wallsMissing();
const options = { timeout: 120_000, ...(missing !== undefined && { skip: missing }) };

/** Does with the request what Slurm does on a node. */
async function start(request: ExecutionRequest): Promise<Running> {
  const folder = join(request.root, "job");
  mkdirSync(folder);
  writeFileSync(join(folder, "request.json"), JSON.stringify(request));
  const child = spawn(process.execPath, [job, folder], { stdio: ["ignore", "inherit", "inherit"] });
  const ended = once(child, "exit").then(
    () => (JSON.parse(readFileSync(join(folder, "done.json"), "utf8")) as SlurmDone).result,
  );
  return { ended, askToEnd() {}, kill: () => void child.kill("SIGKILL") };
}

const asJob = (t: TestContext, script: string, more: HostileOptions = {}) =>
  hostile(t, "fresh Python", script, { start, ...more });

test("a hostile stage sees and changes nothing but what it is given", options, async (t) => {
  const { result, work, log, root } = await asJob(t, sight);
  assert.equal(result.kind, "succeeded", log);
  const told = JSON.parse(readFileSync(join(work, "out/result.json"), "utf8"));
  for (const [path, what] of Object.entries(told.seen))
    assert.ok(what === "refused" || what === 0 || (what as string[]).length === 0, `${path}: ${what}`);
  for (const [act, end] of Object.entries(told.acts)) assert.equal(end, "refused", act);
  if (process.getuid?.() === 0) assert.ok(told.uid >= 60_600);
  assert.equal(told.submission, "weights"); // although only the runner's user could read it
  assert.deepEqual(told.lo, ["lo"]);
  assert.equal(readFileSync(join(work, "in/submission"), "utf8"), "weights");
  assert.ok(!existsSync(join(root, "hostile")));
  for (const name of ["out", "out/result.json", "tmp"])
    assert.equal(statSync(join(work, name)).uid, process.getuid!(), name);
});

test("more memory than allowed is the stage's own failure", options, async (t) => {
  const memoryBytes = 2 ** 28;
  const { result, log } = await asJob(t, greedy.replace("PROCESSES", "8"), { memoryBytes });
  const detail = `held more than ${memoryBytes} bytes of memory`;
  if (await mayLimitMemory())
    assert.deepEqual(result, { kind: "failed", cause: "out-of-memory", detail }, log);
  else assert.equal(result.kind, "failed", log);
});

test("a stage ends as its program ended, with processes that detach", options, async (t) => {
  const script = `
import os, time
if os.fork() == 0:
    os.setsid()
    while True:
        open("WORKFOLDER/tmp/alive", "w").write(str(time.time()))
        time.sleep(0.02)
time.sleep(0.3)
raise SystemExit(7)
`;
  const { result, work } = await asJob(t, script);
  assert.deepEqual(result, { kind: "failed", cause: "exit-code", detail: "exit status 7" });
  const before = statSync(join(work, "tmp/alive")).mtimeMs;
  await sleep(200);
  assert.equal(statSync(join(work, "tmp/alive")).mtimeMs, before);
});

test("a file larger than allowed cannot be written", options, async (t) => {
  const script = `
import os
with open(os.environ["WORK"] + "/out/large", "wb") as file:
    for _ in range(40):
        file.write(bytes(1 << 20))
`;
  const { result, work } = await asJob(t, script);
  assert.equal(result.kind, "failed");
  assert.equal((result as { cause: string }).cause, "exit-code");
  assert.ok(statSync(join(work, "out/large")).size <= 2 ** 24);
});

test("where no walls can be built the stage is refused, and the message says what to ask for", async (t) => {
  const { result } = await asJob(t, sight, { path: "/nonexistent" });
  assert.ok(result.kind === "failed");
  assert.match(
    result.detail,
    /^it opens files that untrusted code made, and no walls can be built here.*user\.max_user_namespaces/,
  );
});

test("a stage with an image never runs without it", async (t) => {
  const image = `lab/score@sha256:${"0".repeat(64)}`;
  const { result, work } = await asJob(t, sight, { start: (request) => start({ ...request, image }) });
  assert.deepEqual(result, {
    ...{ kind: "failed", cause: "operator", detail: `a Slurm job cannot run in the image ${image}` },
  });
  assert.ok(!existsSync(join(work, "out/result.json")));
});
