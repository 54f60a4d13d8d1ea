// Stages in containers of a real engine. GPUs are fake: the tests show which are requested.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import type { Gpu } from "@mlrb/core/ports/gpu";
import { type TestEngine, testEngine } from "../../../tests/support/machines/docker-engine.ts";
import { isRunning } from "../../../tests/support/processes.ts";
import { DockerExecutor, type DockerExecutorOptions } from "./docker-executor.ts";

const repository = join(import.meta.dirname, "../../..");
const fakeGpus = ["GPU-fake-a", "GPU-fake-b", "GPU-fake-c", "GPU-fake-d"];
const place = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-docker-")));
let engine: TestEngine;
let why: string | false = false;
before(async () => {
  const started = await testEngine({ gpus: fakeGpus });
  if ("skip" in started) why = started.skip;
  else engine = started;
});
after(async () => {
  await engine?.stop();
  rmSync(place, { recursive: true, force: true });
});

/** Skips the test with the reason if there is no engine. */
function it(title: string, body: (t: TestContext) => Promise<void>): void {
  test(title, { timeout: 120_000 }, async (t) => {
    if (why !== false) return t.skip(why);
    await body(t);
  });
}

let count = 0;

function asked(command: string, more: Partial<ExecutionRequest> = {}): ExecutionRequest {
  const work = join(place, `work-${++count}`);
  for (const part of ["in", "out", "tmp"]) mkdirSync(join(work, part), { recursive: true });
  return {
    id: `stage-${count}`,
    key: `key-${count}`,
    token: `mlrb:test:${count}`,
    run: { kind: "command", command },
    root: repository,
    work,
    env: { PATH: process.env.PATH!, HOME: join(work, "tmp"), GREETING: "hello, world" },
    inputs: {},
    outputs: {},
    log: join(work, "log"),
    limits: {},
    network: "none",
    reads: [],
    writes: [],
    cpus: 1,
    gpus: [],
    ...more,
  };
}

function executor(t: TestContext, more: Partial<DockerExecutorOptions> = {}) {
  const made = new DockerExecutor({
    root: repository,
    state: join(place, ".mlrb"),
    run: `run-${count}`,
    isLive: () => false,
    take: () => true,
    env: engine.env,
    ...more,
  });
  t.after(() => made.close());
  return made;
}

const said = (request: ExecutionRequest) => readFileSync(request.log, "utf8");
const containers = () => engine.docker("ps", "-aq").stdout;
const running = async (request: ExecutionRequest, text: string) => {
  for (let round = 0; round < 600; round++) {
    if (existsSync(request.log) && said(request).includes(text)) return;
    await sleep(50);
  }
  throw new Error(`never said ${text}`);
};

it("a stage runs with its variables, writes only where it may, and reports engine and image", async (t) => {
  const at = executor(t);
  const request = asked(
    'echo "$GREETING"; echo kept > out/a 2>/dev/null; cd "$HOME/.."; echo kept > out/b; touch /usr/x 2>&1; ls /home /root /var 2>&1; node -p 1+1; id -u; echo "[$MLRB_TOKEN]"',
  );
  const result = await at.start(request).ended;
  assert.deepEqual(result.kind, "succeeded", said(request));
  assert.match(said(request), /^hello, world\n/);
  assert.match(said(request), /touch: .*Read-only file system\n[\s\S]*\n2\n0\n\[\]\n$/);
  assert.equal(readFileSync(join(request.work, "out/b"), "utf8"), "kept\n");
  assert.ok(!existsSync(join(repository, "out/a")));
  const { where } = result as { where: Record<string, string> };
  assert.match(where.engine!, /^docker \d+\.\d+/);
  assert.match(where.image!, /^sha256:[0-9a-f]{64}$/);
  await at.close();
  assert.equal(containers(), "");
});

it("a stage that opens what untrusted code made sees its declared paths only, as a user of its own", async (t) => {
  const at = executor(t);
  const request = asked(
    'id -u; ls -a . .mlrb; cat package.json; echo x > out; cd "$HOME/.."; cat in/model; echo x > in/model; echo kept > out/b; unshare --user true; grep -E "CapBnd|NoNewPrivs|Seccomp:" /proc/self/status; grep -c : /proc/net/dev',
  );
  const { work } = request;
  writeFileSync(join(work, "in/model"), "weights\n");
  const walls = {
    user: { uid: 60_700, gid: 60_700 },
    required: true,
    reads: [work, join(repository, "README.md")],
    writes: [join(work, "out"), join(work, "tmp")],
    limits: { memoryBytes: 2 ** 28, processes: 64, fileBytes: 2 ** 20 },
  };
  const result = await at.start({ ...request, walls }).ended;
  assert.equal(result.kind, "succeeded", said(request));
  const text = said(request);
  assert.match(text, /^60700\n/);
  assert.match(text, /\nREADME\.md\n/);
  assert.match(text, /\.mlrb.*No such file[\s\S]*package\.json.*No such file[\s\S]*\nweights\n/);
  assert.match(text, /in\/model: Read-only file system[\s\S]*unshare: .*Operation not permitted/);
  assert.match(text, /CapBnd:\t0{16}\nNoNewPrivs:\t1\nSeccomp:\t2\n1\n$/);
  assert.equal(readFileSync(join(work, "out/b"), "utf8"), "kept\n");
  for (const name of ["out", "out/b", "tmp", "log"]) assert.equal(statSync(join(work, name)).uid, 0, name);
});

it("a script and its imports run in a container as on the host", async (t) => {
  const request = asked("", { run: { kind: "script", file: "runners/docker/src/testing/says-where.ts" } });
  assert.equal((await executor(t).start(request).ended).kind, "succeeded", said(request));
  assert.match(said(request), /exit status 3\n$/);
});

it("each way to end gives its own outcome", async (t) => {
  const at = executor(t);
  const end = async (command: string, more: Partial<ExecutionRequest> = {}) => {
    const request = asked(command, more);
    const result = await at.start(request).ended;
    return result.kind === "failed" ? `${result.cause}: ${result.detail}` : result.kind;
  };
  const limits = { memoryBytes: 64 * 2 ** 20 };
  const hog = `python3 -c 'x = bytearray(${256 * 2 ** 20})'`;
  assert.equal(await end("exit 7"), "exit-code: exit status 7");
  assert.equal(await end("exit 125"), "exit-code: exit status 125");
  assert.equal(await end("kill -9 $$"), "exit-code: exit status 137 (SIGKILL)");
  assert.equal(await end(hog, { limits }), "out-of-memory: held more than 67108864 bytes of memory");
  assert.equal(
    await end(`${hog}; exit 0`, { limits }),
    "out-of-memory: held more than 67108864 bytes of memory",
    "a child that its parent forgave",
  );
  assert.equal(await end("sleep 60", { limits: { timeMs: 1000 } }), "time-limit: did not end within 1.0 s");
  assert.equal(
    await end("trap '' TERM; while :; do sleep 1; done", { limits: { timeMs: 1000 } }),
    "time-limit: did not end within 1.0 s",
    "a stage that ignores TERM",
  );
  assert.match(
    await end("true", { image: `nothing.invalid/x@sha256:${"0".repeat(64)}` }),
    /^machine: image: nothing.invalid\/x@sha256:0+ could not be pulled: /,
  );
  assert.match(
    await end("true", { image: "debian:12" }),
    /^machine: image: "debian:12" is not pinned to a digest; name /,
  );
});

it("the log of a stage that never stops printing is held to its cap while it prints", async (t) => {
  const stage = `echo the first words; yes 0123456789abcde | head -c 134217728
    while [ $(($(stat -L -c %b /proc/$$/fd/1) * 512)) -gt 104857600 ]; do sleep 0.02; done; echo the last words`;
  const request = asked(stage, { limits: { timeMs: 60_000 } });
  const { kind } = await executor(t).start(request).ended;
  assert.equal(kind, "succeeded");
  assert.match(said(request), /^the first words\n/);
  assert.match(said(request).slice(-100), /e\nthe last words\n$/);
});

it("detached children are dead when the stage has ended", async (t) => {
  const request = asked("setsid sleep 4242 & (nohup sleep 4242 >/dev/null 2>&1 &) ; sleep 0.2; echo done");
  assert.equal((await executor(t).start(request).ended).kind, "succeeded");
  const pids = engine.docker("ps", "-q").stdout;
  assert.equal(pids, "");
  assert.deepEqual(processesNamed("sleep 4242"), []);
});

it("50 MB of output arrive whole", async (t) => {
  const request = asked("yes 0123456789 | head -c 50000000");
  assert.equal((await executor(t).start(request).ended).kind, "succeeded");
  assert.equal(readFileSync(request.log).length, 50_000_000);
});

it("a stage that gets TERM ends in order or is killed, and is cancelled", async (t) => {
  const at = executor(t);
  const orderly = asked("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.1; done");
  const stubborn = asked("trap '' TERM; echo up; while :; do sleep 0.1; done");
  const early = asked("echo never");
  const [a, b, c] = [at.start(orderly), at.start(stubborn), at.start(early)];
  c.kill();
  assert.deepEqual(await c.ended, { kind: "cancelled" });
  assert.ok(!existsSync(early.log));
  await Promise.all([running(orderly, "up"), running(stubborn, "up")]);
  a.askToEnd();
  b.kill();
  assert.deepEqual(await a.ended, { kind: "cancelled" });
  assert.deepEqual(await b.ended, { kind: "cancelled" });
  assert.match(said(orderly), /bye\n$/);
});

it("inputs are read-only in a writable work folder", async (t) => {
  const request = asked("");
  writeFileSync(join(request.work, "in/data"), "as it was");
  const stage = asked(`echo x > ${request.work}/in/data; echo y > ${request.work}/out/y`, {
    work: request.work,
    log: request.log,
    readOnly: join(request.work, "in"),
  });
  await executor(t).start(stage).ended;
  assert.equal(readFileSync(join(request.work, "in/data"), "utf8"), "as it was");
  assert.equal(readFileSync(join(request.work, "out/y"), "utf8"), "y\n");
});

it("a stage with a preload file starts fresh, and the log says why", async (t) => {
  const request = asked("true", { preload: "/x.py" });
  await executor(t).start(request).ended;
  assert.match(said(request), /^mlrb: not forked from a warm process: a container starts a fresh one\n/);
});

it("an image is built from a pinned Dockerfile once, and again when a file of its folder changes", async (t) => {
  const root = join(place, "repository");
  mkdirSync(join(root, "image/bin"), { recursive: true });
  writeFileSync(join(root, "image/Dockerfile"), "FROM scratch\nCOPY bin/ /bin/\n");
  writeFileSync(join(root, "image/bin/sh"), readFileSync("/bin/busybox"));
  chmodSync(join(root, "image/bin/sh"), 0o755);
  const at = executor(t, { root });
  const where = async () => {
    const request = asked("echo $0; echo /bin/*", { root, image: "image/Dockerfile" });
    const result = await at.start(request).ended;
    assert.equal(result.kind, "succeeded", existsSync(request.log) ? said(request) : JSON.stringify(result));
    assert.match(said(request), /^\/bin\/sh\n\/bin\/sh/);
    return (result as { where: Record<string, string> }).where.image;
  };
  const first = await where();
  assert.equal(await where(), first);
  writeFileSync(join(root, "image/bin/more"), "more");
  const second = executor(t, { root });
  const request = asked("true", { root, image: "image/Dockerfile" });
  const result = (await second.start(request).ended) as { where: Record<string, string> };
  assert.notEqual(result.where.image, first);
  writeFileSync(join(root, "image/Dockerfile"), "FROM debian:12\n");
  const loose = await executor(t, { root }).start(asked("true", { root, image: "image/Dockerfile" })).ended;
  assert.match(
    (loose as { detail: string }).detail,
    /begins from debian:12, which is not pinned to a digest/,
  );
});

it("explicit GPU ids reach the (fake) hook, and concurrent stages never share one", async (t) => {
  const at = executor(t);
  const before = engine.gpusGiven().length;
  const stages = [["GPU-fake-b"], ["GPU-fake-d", "GPU-fake-a"]].map((uuids) =>
    at.start(
      asked('echo "[$CUDA_VISIBLE_DEVICES]"', {
        gpus: uuids.map(gpu),
        env: { PATH: process.env.PATH!, CUDA_VISIBLE_DEVICES: "0" },
      }),
    ),
  );
  for (const stage of stages) assert.equal((await stage.ended).kind, "succeeded");
  assert.deepEqual(engine.gpusGiven().slice(before).sort(), ["GPU-fake-b", "GPU-fake-d,GPU-fake-a"]);
  const wrong = await at.start(asked("true", { gpus: [gpu("GPU-gone")] })).ended;
  assert.match((wrong as { detail: string }).detail, /could not be started: .*GPU-gone: unknown device/s);
});

it("a missing or silent engine is the machine's failure, with a way out", async (t) => {
  const end = async (env: NodeJS.ProcessEnv) => {
    const result = await executor(t, { env }).start(asked("true")).ended;
    assert.equal(result.kind === "failed" && result.cause, "machine");
    return (result as { detail: string }).detail;
  };
  assert.match(
    await end({ ...engine.env, DOCKER_HOST: "unix:///tmp/nobody-here" }),
    /^no container engine answers; start it /,
  );
  assert.match(
    await end({ ...engine.env, PATH: "/nowhere" }),
    /^there is no `docker` on the PATH; install Docker/,
  );
});

it("a slow engine does not fail a stage", async (t) => {
  const bin = join(place, "slow");
  mkdirSync(bin);
  writeFileSync(join(bin, "docker"), `#!/bin/sh\nsleep 0.5\nPATH=\${PATH#*:}\nexec docker "$@"\n`);
  chmodSync(join(bin, "docker"), 0o755);
  const at = executor(t, { env: { ...engine.env, PATH: `${bin}${delimiter}${process.env.PATH}` } });
  assert.equal((await at.start(asked("true")).ended).kind, "succeeded");
});

it("a container removed from outside is the machine's failure, not an exit code", async (t) => {
  const request = asked("echo up; sleep 100");
  const { ended } = executor(t).start(request);
  await running(request, "up");
  const removed = engine.docker("rm", "-f", await engine.onlyContainer());
  assert.equal(removed.status, 0, removed.stderr);
  assert.deepEqual(await ended, {
    kind: "failed",
    cause: "machine",
    detail: "its container was removed from outside while it ran",
  });
});

it("stages of a killed runner keep running, and the next run adopts each once", async (t) => {
  const request = asked('echo up; while [ ! -e "$HOME/../out/go" ]; do sleep 0.1; done; echo late', {
    key: "wanted",
    limits: { timeMs: 600_000 },
  });
  const other = asked("echo up; sleep 1000", { key: "unwanted" });
  const until = 'echo up; while [ ! -e "$HOME/../out/go" ]; do sleep 0.1; done; echo late';
  const good = asked(until, { key: "good" });
  const bad = asked(`${until}; exit 3`, { key: "bad" });
  writeFileSync(join(place, "requests.json"), JSON.stringify([request, other, good, bad]));
  const runner = spawn(process.execPath, [join(import.meta.dirname, "testing/runs-stages.ts"), place], {
    env: engine.env,
    stdio: "inherit",
  });
  await Promise.all([request, other, good, bad].map((one) => running(one, "up")));
  runner.kill("SIGKILL");
  await new Promise((resolve) => runner.once("exit", resolve));
  for (const one of [good, bad]) writeFileSync(join(one.work, "out/go"), "");
  const gone = () => engine.docker("ps", "-q").stdout.split("\n").length === 2;
  for (let round = 0; round < 100 && !gone(); round++) await sleep(50);
  const live = executor(t, { isLive: (run) => run === "killed" });
  assert.equal(await live.adopt("wanted"), undefined);
  const at = executor(t);
  assert.equal(await at.adopt("bad"), undefined, "what failed is run again");
  const ended = await at.adopt("good");
  assert.equal((await ended!.running.ended).kind, "succeeded", "what ended without a runner counts too");
  const adopted = await at.adopt("wanted");
  assert.equal(adopted?.work, request.work);
  assert.equal(await at.adopt("wanted"), undefined);
  await at.clearLeft();
  assert.deepEqual(processesNamed("sleep 1000"), []);
  writeFileSync(join(request.work, "out/go"), "");
  assert.equal((await adopted!.running.ended).kind, "succeeded");
  assert.match(said(request), /up\nlate\n$/);
  await at.close();
  assert.equal(containers(), "");
});

it("an engine that is killed during a stage and returns is the machine's failure, never an exit code", async (t) => {
  const request = asked("echo up; sleep 300");
  const at = executor(t);
  const { ended } = at.start(request);
  await running(request, "up");
  await engine.crash();
  await sleep(500);
  await engine.restart();
  const result = await ended;
  assert.equal(result.kind === "failed" && result.cause, "machine", JSON.stringify(result));
  assert.match((result as { detail: string }).detail, /the container engine was ended while it ran/);
  assert.equal((await at.start(asked("true")).ended).kind, "succeeded", "and the next stage runs");
  await at.close();
  assert.equal(containers(), "");
});

it("an engine that is killed and stays away fails the stage after its patience", async (t) => {
  const request = asked("echo up; sleep 300");
  const { ended } = executor(t, { patienceMs: 1000 }).start(request);
  await running(request, "up");
  await engine.crash();
  const result = await ended;
  await engine.restart();
  assert.match(JSON.stringify(result), /went away while it ran and did not come back within 1 s/);
});

function gpu(uuid: string): Gpu {
  return { index: 0, uuid, model: "fake", memoryBytes: 1, driver: "0", slice: false };
}

/** Running processes of this machine with the command line `words`. */
function processesNamed(words: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim() === words &&
          isRunning(pid)
        );
      } catch {
        return false; // no process, or one that ended meanwhile
      }
    });
}
