// Distinguishes a sandbox that is taken away from its programs from what they do themselves. Attacks from inside
// are in tests/docker-walls.thorough.test.ts.
import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { type TestEngine, testEngine } from "../../../tests/support/machines/docker-engine.ts";
import { clearDockerWalls, dockerWalls } from "./docker-walls.ts";

const place = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-walls-")));
chmodSync(place, 0o755);
let engine: TestEngine;
let why: string | false = false;
before(async () => {
  const started = await testEngine({ gpus: ["GPU-fake-a", "GPU-fake-b"] });
  if ("skip" in started) why = started.skip;
  else engine = started;
});
after(async () => {
  await engine?.stop();
  rmSync(place, { recursive: true, force: true });
});

function it(title: string, body: (t: TestContext) => Promise<void>): void {
  test(title, { timeout: 120_000 }, async (t) => {
    if (why !== false) return t.skip(why);
    await body(t);
  });
}

let count = 0;

async function walls(t: TestContext, more: Partial<WallsRequest> = {}): Promise<Walls & { folder: string }> {
  const folder = join(place, `sandbox-${++count}`);
  mkdirSync(folder);
  chownSync(folder, 60_700, 60_700);
  const request: WallsRequest = {
    folder,
    seenAs: "/attempt",
    readOnly: [],
    reads: [],
    network: "none",
    limits: { memoryBytes: 128 * 2 ** 20, processes: 64, diskBytes: 64 * 2 ** 20, cpus: 1 },
    gpus: [],
    token: `test-${count}`,
    ...more,
  };
  const made = await dockerWalls(request, { env: engine.env });
  t.after(() => made.close());
  return { ...made, folder };
}

function run(at: Walls, script: string) {
  let said = "";
  const result = at.exec({
    argv: ["/bin/sh", "-c", script],
    cwd: "/attempt",
    env: { PATH: "/usr/bin:/bin" },
    onOutput: (_, bytes) => {
      said += Buffer.from(bytes).toString();
    },
  });
  const heard = async (text: string) => {
    for (let round = 0; round < 400 && !said.includes(text); round++) await sleep(25);
    assert.ok(said.includes(text), said);
  };
  return { result, heard, said: () => said };
}

it("a program runs as the owner of its folder, and its exit code is reported", async (t) => {
  const at = await walls(t);
  const first = run(at, "id -u; echo kept > file; exit 125");
  assert.deepEqual(await first.result, { kind: "exited", code: 125 });
  assert.equal(first.said(), "60700\n");
  assert.equal(readFileSync(join(at.folder, "file"), "utf8"), "kept\n");
  assert.match(at.where.engine!, /^docker \d+/);
  await at.close();
  assert.equal(engine.docker("ps", "-aq").stdout, "");
});

it("a sandbox whose container is ended from outside is lost, never an exit code of the program", async (t) => {
  for (const by of [["kill"], ["rm", "-f"], ["stop", "-t", "0"]]) {
    const at = await walls(t);
    const { result, heard } = run(at, "echo up; sleep 100");
    await heard("up");
    const made = engine.docker(...by, await engine.onlyContainer());
    assert.equal(made.status, 0, made.stderr);
    assert.equal((await result).kind, "lost", by.join(" "));
    assert.equal((await run(at, "true").result).kind, "lost", "until it is closed");
    await at.close();
    assert.equal(engine.docker("ps", "-aq").stdout, "");
  }
});

it("nothing that a program does makes its sandbox count as lost", async (t) => {
  const at = await walls(t);
  const tries = [
    "kill -9 -1",
    "kill -9 1; kill -9 $PPID; kill -9 0",
    "ulimit -u unlimited; b() { b | b & }; b; sleep 1",
    "dd if=/dev/zero of=/dev/shm/a bs=1M count=200; dd if=/dev/zero of=/tmp/a bs=1M count=200",
    "for i in 1 2 3 4 5 6 7 8; do tail /dev/zero & done; wait",
    "exec 2>&-; exec 1>&-; exit 1",
    "echo 'mlrb-0 missing' >&2; exit 127",
    "echo -1000 > /proc/self/oom_score_adj; tail /dev/zero",
  ];
  for (const script of tries) {
    const { kind } = await run(at, script).result;
    assert.match(kind, /^(exited|signalled)$/, script);
    await at.kill();
  }
});

it("a frozen sandbox is ended by kill, and another program gets a new one around the same folder", async (t) => {
  const at = await walls(t);
  const { result, heard } = run(at, "echo up; while :; do date +%N > tick; done");
  await heard("up");
  await at.freeze();
  const tick = readFileSync(join(at.folder, "tick"), "utf8");
  await sleep(300);
  assert.equal(readFileSync(join(at.folder, "tick"), "utf8"), tick);
  await at.kill();
  assert.deepEqual(await result, { kind: "signalled", signal: "SIGKILL" });
  assert.deepEqual(await run(at, "test -e tick").result, { kind: "exited", code: 0 });
});

it("sandboxes of a killed engine are lost, and kill leaves no process", async (t) => {
  const at = await walls(t);
  const { result, heard } = run(at, "echo up; exec sleep 4343");
  await heard("up");
  await engine.crash();
  assert.equal((await result).kind, "lost");
  await at.kill();
  const { stdout } = await import("node:child_process").then(({ spawnSync }) =>
    spawnSync("pgrep", ["-f", "^sleep 4343$"], { encoding: "utf8" }),
  );
  assert.equal(stdout, "");
  await engine.restart();
  assert.deepEqual(await run(at, "exit 3").result, { kind: "exited", code: 3 }, "and the next sandbox works");
});

it("a sandbox requests its own GPUs of the (fake) hook and no others", async (t) => {
  const gpu = { index: 1, uuid: "GPU-fake-b", model: "fake", memoryBytes: 1, driver: "0", slice: false };
  const before = engine.gpusGiven().length;
  await run(await walls(t, { gpus: [gpu] }), "true").result;
  assert.deepEqual(engine.gpusGiven().slice(before), ["GPU-fake-b"]);
  const none = run(await walls(t), "ls /dev");
  await none.result;
  assert.doesNotMatch(none.said(), /nvidia/);
});

it("clearing a token removes the sandbox of that token and no other", async (t) => {
  const [one, other] = [await walls(t), await walls(t)];
  const [a, b] = [run(one, "echo up; sleep 100"), run(other, "echo up; sleep 100")];
  await Promise.all([a.heard("up"), b.heard("up")]);
  await one.freeze();
  await clearDockerWalls(`test-${count - 1}`, engine.env);
  assert.equal(engine.docker("ps", "-aq").stdout.split("\n").length, 1);
  assert.equal((await a.result).kind, "lost");
  await other.kill();
  assert.equal((await b.result).kind, "signalled");
});

it("walls that cannot be opened say why", async (t) => {
  const folder = join(place, "roots");
  mkdirSync(folder);
  writeFileSync(join(folder, "x"), "");
  const at = await walls(t, { image: "debian:12" }).catch((error: Error) => error);
  assert.match((at as Error).message, /"debian:12" is not pinned to a digest/);
  const request = { folder, token: "roots" } as WallsRequest;
  await assert.rejects(dockerWalls(request, { env: engine.env }), /would be root/);
  const away = { ...engine.env, DOCKER_HOST: "unix:///tmp/nobody-here" };
  const other = join(place, "other");
  mkdirSync(other);
  chownSync(other, 60_700, 60_700);
  await assert.rejects(
    dockerWalls({ ...request, folder: other }, { env: away, patienceMs: 0 }),
    /no container engine answers; start it/,
  );
});
