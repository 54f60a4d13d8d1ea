// Which walls a stage gets on a node, and how it ends in walls of another program, with walls that the test drives.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ExecutionRequest, Executor } from "@mlrb/core/ports/executor";
import type { ExecRequest, ExecResult, Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { sandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { type ChooseWalls, startOnNode } from "./node-walls.ts";

const image = `lab/score@sha256:${"0".repeat(64)}`;

function stage(t: TestContext, more: Partial<ExecutionRequest> = {}): ExecutionRequest {
  const work = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-node-")));
  t.after(() => rmSync(work, { recursive: true }));
  for (const name of ["in", "out", "tmp"]) mkdirSync(join(work, name));
  const token = "mlrb:node:1:";
  return {
    ...{ id: "one", key: "k", token, root: "/", work, log: join(work, "log"), env: { GREETING: "hello" } },
    run: { kind: "command", command: ["score", "it"] },
    ...{ inputs: {}, outputs: {}, limits: {}, reads: [], writes: [], cpus: 1, gpus: [] },
    walls: {
      ...(process.getuid?.() === 0 && { user: sandboxUser(token) }),
      ...{ required: true, reads: [work, "/nonexistent"], writes: [join(work, "out"), join(work, "tmp")] },
      limits: { memoryBytes: 2 ** 29, processes: 64, fileBytes: 2 ** 24 },
    },
    ...more,
  };
}

const local: Executor = {
  name: "local",
  start: () => ({ ended: Promise.resolve({ kind: "succeeded" }), askToEnd() {}, kill() {} }),
};

/** The walls of a program: what they were asked, and how the stage's program ends in them. */
function podman(end: (asked: ExecRequest) => Promise<ExecResult> | ExecResult) {
  const seen: { walls: WallsRequest[]; programs: ExecRequest[]; prepared: string[]; closed: number } = {
    ...{ walls: [], programs: [], prepared: [], closed: 0 },
  };
  const killed = Promise.withResolvers<ExecResult>();
  const walls: Walls = {
    ...{ kind: "podman", where: { sandbox: "podman", engine: "podman 4.3.1", memoryLimit: "kernel" } },
    exec(asked) {
      seen.programs.push(asked);
      return Promise.race([Promise.resolve(end(asked)), killed.promise]);
    },
    ...{ freeze: async () => true, thaw: async () => true },
    kill: async () => killed.resolve({ kind: "signalled", signal: "SIGKILL" }),
    async close() {
      seen.closed++;
    },
  };
  const engine = {
    kind: "podman",
    async prepare(name: string) {
      seen.prepared.push(name);
    },
    async open(request: WallsRequest) {
      seen.walls.push(request);
      return walls;
    },
  };
  const passed = ["bubblewrap: not installed"];
  const chooseWalls: ChooseWalls = async () => ({ kind: "chosen", engine, passed });
  return { seen, chooseWalls };
}

const none: ChooseWalls = async () => ({ kind: "none", passed: ["podman: not installed"] });
const missing = async () => "no user namespaces";
const containers = () => Promise.reject(new Error("asked"));
const never = new Promise<ExecResult>(() => {});

async function result(request: ExecutionRequest, chooseWalls: ChooseWalls) {
  return await (await startOnNode(request, { local, chooseWalls, containers, missing })).ended;
}

test("where the user can make namespaces, or the stage needs none, no other program is asked", async (t) => {
  const chooseWalls = () => Promise.reject(new Error("asked"));
  const can = await startOnNode(stage(t), { local, chooseWalls, containers, missing: async () => undefined });
  assert.deepEqual(await can.ended, { kind: "succeeded" });
  const { walls: _, ...plain } = stage(t);
  const open = await startOnNode(plain, { local, chooseWalls, containers, missing });
  assert.deepEqual(await open.ended, { kind: "succeeded" });
});

test("the stage's paths, limits and variables are those of its walls, and its result names the program", async (t) => {
  const request = stage(t);
  const { seen, chooseWalls } = podman(({ onOutput }) => {
    onOutput("stdout", Buffer.from("scored\n"));
    return { kind: "exited", code: 0 };
  });
  const where = { walls: "podman 4.3.1", memoryLimit: "kernel" };
  assert.deepEqual(await result(request, chooseWalls), { kind: "succeeded", where });
  const [asked] = seen.walls;
  const { work } = request;
  assert.deepEqual([asked!.reads, asked!.writes], [[work], [join(work, "out"), join(work, "tmp")]]);
  assert.equal(asked!.network, "none");
  assert.deepEqual(asked!.limits, { memoryBytes: 2 ** 29, processes: 64, diskBytes: 2 ** 24, cpus: 1 });
  const [{ argv, cwd, env } = assert.fail()] = seen.programs;
  assert.deepEqual([argv, cwd, env.GREETING, env.CUDA_VISIBLE_DEVICES], [["score", "it"], "/", "hello", ""]);
  assert.equal(seen.closed, 1);
  assert.equal(
    readFileSync(request.log, "utf8"),
    "mlrb: walls: podman (not namespaces: no user namespaces; not bubblewrap: not installed)\nscored\n",
  );
});

test("each end of the program has the local executor's cause and words", async (t) => {
  const ends: [ExecResult, Awaited<ReturnType<typeof result>>][] = [
    [
      { kind: "exited", code: 3 },
      { kind: "failed", cause: "exit-code", detail: "exit status 3" },
    ],
    [
      { kind: "signalled", signal: "SIGKILL", over: { limit: "memory", detail: "much" } },
      { kind: "failed", cause: "out-of-memory", detail: `held more than ${2 ** 29} bytes of memory` },
    ],
    [
      { kind: "exited", code: 0, over: { limit: "memory", detail: "a child's" } },
      { kind: "failed", cause: "out-of-memory", detail: `held more than ${2 ** 29} bytes of memory` },
    ],
    [
      { kind: "signalled", signal: "SIGTERM" },
      { kind: "failed", cause: "exit-code", detail: "ended by SIGTERM" },
    ],
    [
      { kind: "lost", detail: "its container was removed" },
      { kind: "failed", cause: "machine", detail: "its container was removed" },
    ],
  ];
  for (const [end, expected] of ends)
    assert.deepEqual(await result(stage(t), podman(() => end).chooseWalls), expected);
});

test("a time limit and a wish end the program at once, and its walls are closed", async (t) => {
  const late = podman(() => never);
  const detail = "did not end within 20 ms";
  assert.deepEqual(await result(stage(t, { limits: { timeMs: 20 } }), late.chooseWalls), {
    ...{ kind: "failed", cause: "time-limit", detail },
  });
  const asked = podman(() => never);
  const one = await startOnNode(stage(t), { local, chooseWalls: asked.chooseWalls, containers, missing });
  one.askToEnd();
  assert.deepEqual(await one.ended, { kind: "cancelled" });
  assert.deepEqual([late.seen.closed, asked.seen.closed], [1, 1]);
});

test("the pull of an image does not count in the stage's time limit, and can be stopped", async (t) => {
  const pull = Promise.withResolvers<void>();
  const pulled = podman(() => ({ kind: "exited", code: 0 }));
  const slow: ChooseWalls = async (needs) => {
    const found = await pulled.chooseWalls(needs);
    if (found.kind === "none") assert.fail();
    return { ...found, engine: { ...found.engine, prepare: () => pull.promise } };
  };
  const how = { local, chooseWalls: slow, containers, missing };
  const limited = await startOnNode(stage(t, { image, limits: { timeMs: 50 } }), how);
  const asked = await startOnNode(stage(t, { image }), how);
  const killed = await startOnNode(stage(t, { image }), how);
  asked.askToEnd();
  killed.kill();
  assert.deepEqual([await asked.ended, await killed.ended], [{ kind: "cancelled" }, { kind: "cancelled" }]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  pull.resolve();
  assert.equal((await limited.ended).kind, "succeeded");
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    [pulled.seen.programs.length, pulled.seen.closed],
    [1, 3],
    "walls that open late are closed",
  );
});

test("where nothing builds walls the stage is refused with what to ask for, and its log has each reason", async (t) => {
  const request = stage(t);
  const refused = await result(request, none);
  assert.ok(refused.kind === "failed");
  assert.match(
    refused.detail,
    /^it opens files that untrusted code made.*ask the administrator for user namesp/,
  );
  const log = readFileSync(request.log, "utf8");
  assert.match(log, /no walls by namespaces: no user namespaces\nmlrb: no walls by podman: not installed\n/);
  const weak = { ...request, walls: { ...request.walls!, required: false } };
  assert.deepEqual(await result(weak, none), { kind: "succeeded" }, "under limits alone, as on any machine");
});

test("a stage with an image runs in it or not at all", async (t) => {
  const { seen, chooseWalls } = podman(() => ({ kind: "exited", code: 0 }));
  const can = { local, chooseWalls, containers, missing: async () => undefined };
  const one = await startOnNode(stage(t, { image }), can);
  assert.equal((await one.ended).kind, "succeeded");
  assert.deepEqual([seen.prepared, seen.walls[0]!.image], [[image], image]);
  const { walls, ...trusted } = stage(t, { image });
  const weak = { ...trusted, walls: { ...walls!, required: false } };
  for (const request of [trusted, weak]) {
    const refused = await result(request, none);
    assert.ok(refused.kind === "failed");
    assert.match(refused.detail, /^this node cannot run the image lab\/score@.*ask the administrator/);
  }
});

test("a trusted stage with an image runs in a container of its own, which is closed at its end", async (t) => {
  const { walls: _, ...request } = stage(t, { image });
  const { chooseWalls, seen } = podman(() => never);
  const did: unknown[] = [];
  const ran: ExecutionResult = { kind: "succeeded", where: { engine: "podman 4.3.1", image: "sha256:1" } };
  const { promise: ended, resolve } = Promise.withResolvers<ExecutionResult>();
  const engine: Executor = {
    name: "docker",
    start(one) {
      did.push(one);
      return { ended, askToEnd: () => resolve(ran), kill() {} };
    },
    close: () => void did.push("closed"),
  };
  const one = await startOnNode(request, { local, chooseWalls, containers: async () => engine });
  one.askToEnd();
  assert.deepEqual([await one.ended, did], [ran, [request, "closed"]]);
  assert.deepEqual(seen.walls, []);
});

test("where podman cannot run, the log of a trusted stage with an image has the reason and no namespaces", async (t) => {
  const { walls: _, ...request } = stage(t, { image });
  await result(request, none);
  assert.equal(readFileSync(request.log, "utf8"), "mlrb: no container by podman: not installed\n");
});
