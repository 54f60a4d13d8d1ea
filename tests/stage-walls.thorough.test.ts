// Hostile stages on a node of a cluster where no stage can build namespaces of its own: in each program that isolates agents
// there. Apptainer is a stub, as an ordinary user.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { nodeEngines, type SandboxEngine } from "@mlrb/agents/sandbox/sandbox-engines";
import type { ExecutionRequest, Executor } from "@mlrb/core/ports/executor";
import { podman } from "@mlrb/docker/podman-on-node";
import { mayLimitMemory } from "@mlrb/kit/processes/control-groups";
import { startOnNode } from "@mlrb/local/process/node-walls";
import { greedy, hostile, sight } from "@mlrb/local/testing/hostile-stage";
import { apptainerStub } from "./support/machines/apptainer-stub.ts";

const asRoot = process.getuid?.() === 0;
const options = { timeout: 120_000 };

/** Only with `engine`, as if this user could make no namespaces. */
function startIn(engine: SandboxEngine) {
  const chooseWalls = async () => ({ kind: "chosen" as const, engine, passed: [] });
  const missing = async () => "none here";
  const containers = () => Promise.reject(new Error("has no image"));
  return (request: ExecutionRequest, local: Executor) =>
    startOnNode(request, { local, chooseWalls, containers, missing });
}

/** What the walls make for themselves. */
const own = (names: string[]) =>
  names.every((name) => ["sandbox", "tmp", "podman-init", ".containerenv"].includes(name));

const kinds = asRoot ? ["bubblewrap", "podman"] : ["apptainer"];
for (const engine of nodeEngines(podman).filter(({ kind }) => kinds.includes(kind))) {
  const { kind } = engine;
  const why = await engine.missing({ weakLimits: true });
  const skip = why !== undefined && { skip: why };
  const start = startIn(engine);

  test(`${kind}: a hostile stage sees and changes nothing but what it is given`, {
    ...options,
    ...skip,
  }, async (t) => {
    const { result, work, log, root } = await hostile(t, "fresh Python", sight, { start });
    assert.equal(result.kind, "succeeded", log);
    assert.match((result as { where: Record<string, string> }).where.walls!, new RegExp(`^${kind} \\d`));
    assert.match(log, new RegExp(`^mlrb: walls: ${kind} \\(not namespaces: none here\\)`));
    const told = JSON.parse(readFileSync(join(work, "out/result.json"), "utf8"));
    for (const [path, what] of Object.entries(told.seen))
      assert.ok(what === "refused" || what === 0 || own(what as string[]), `${path}: ${what}`);
    for (const [act, end] of Object.entries(told.acts)) assert.equal(end, "refused", act);
    if (asRoot) assert.ok(told.uid >= 60_600);
    assert.equal(told.submission, "weights"); // although only the runner's user could read it
    assert.deepEqual(told.lo, ["lo"]);
    assert.equal(readFileSync(join(work, "in/submission"), "utf8"), "weights");
    assert.ok(!existsSync(join(root, "hostile")));
    for (const name of ["out", "out/result.json", "tmp"])
      assert.equal(statSync(join(work, name)).uid, process.getuid!(), name);
  });

  test(`${kind}: more memory than allowed is the stage's own failure`, { ...options, ...skip }, async (t) => {
    const script = greedy.replace("PROCESSES", "8");
    const memoryBytes = 2 ** 28;
    const { result, log } = await hostile(t, "fresh Python", script, { start, memoryBytes });
    const detail = `held more than ${memoryBytes} bytes of memory`;
    if (kind === "podman" || (await mayLimitMemory()))
      assert.deepEqual(result, { kind: "failed", cause: "out-of-memory", detail }, log);
    else assert.equal(result.kind, "failed", log);
  });

  test(`${kind}: a stage ends as its program ended, with processes that detach`, {
    ...options,
    ...skip,
  }, async (t) => {
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
    const { result, work } = await hostile(t, "fresh Python", script, { start });
    assert.deepEqual(result, { kind: "failed", cause: "exit-code", detail: "exit status 7" });
    const before = statSync(join(work, "tmp/alive")).mtimeMs;
    await sleep(200);
    assert.equal(statSync(join(work, "tmp/alive")).mtimeMs, before);
  });

  test(`${kind}: a script of Node runs, and a file larger than allowed cannot be written`, {
    ...options,
    ...skip,
  }, async (t) => {
    const script = `
import os
with open(os.environ["WORK"] + "/out/large", "wb") as file:
    for _ in range(40):
        file.write(bytes(1 << 20))
`;
    const { result, work } = await hostile(t, "fresh Node", script, { start });
    assert.equal(result.kind, "failed");
    assert.equal((result as { cause: string }).cause, "exit-code");
    assert.ok(statSync(join(work, "out/large")).size <= 2 ** 24 + 2 ** 16);
  });
}

const missing = await bubblewrapMissing();

test("Apptainer's walls hold an ordinary user's stages", {
  skip: asRoot ? (missing ?? false) : "is root's",
}, () => {
  const folder = mkdtempSync(join(tmpdir(), "walls-user-"));
  chmodSync(folder, 0o777);
  const stub = apptainerStub();
  try {
    const user = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    const program = [process.execPath, "--test", "--test-reporter=tap", import.meta.filename];
    const { status, stdout } = spawnSync("setpriv", [...user, ...program], {
      encoding: "utf8",
      env: { PATH: `${stub.bin}:${process.env.PATH}`, TMPDIR: folder, HOME: folder },
      maxBuffer: 1 << 28,
    });
    assert.equal(status, 0, stdout);
    assert.match(stdout, /^ok .* - apptainer: a hostile stage sees and changes nothing/m);
    const skipped = stdout.split("\n").filter((line) => /# SKIP/.test(line) && !/is root's/.test(line));
    assert.deepEqual(skipped, []);
  } finally {
    stub.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});
