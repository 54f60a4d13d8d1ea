import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { isRunning, until } from "../../tests/support/processes.ts";

const program = join(import.meta.dirname, "../../tests/support/warm_python.py");

/** A server that has run `preload` and listens. */
async function serving(t: TestContext, preload: string) {
  const folder = mkdtempSync(join(tmpdir(), "warm-python-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  writeFileSync(at("preload.py"), preload);
  const env = { ...process.env, HOME: at("warm-home"), TMPDIR: at("warm-home") };
  mkdirSync(env.HOME);
  const command = [program, "serve", at("socket"), at("preload.py")];
  const server = spawn("python3", command, { stdio: "ignore", env });
  t.after(() => server.kill("SIGKILL"));
  const listens = new RegExp(` 00010000 .* ${at("socket")}$`, "m"); // before, the client would run the script itself
  await until("the socket", () => listens.test(readFileSync("/proc/net/unix", "latin1")));
  return { server, folder, at };
}

/** A server with a running script that has started a program. */
async function running(t: TestContext) {
  const { server, folder, at } = await serving(t, "");
  writeFileSync(
    at("script.py"),
    'import os, subprocess, time\nchild = subprocess.Popen(["sleep", "300"])\n' +
      'with open("pids.new", "w") as file:\n    file.write(f"{os.getpid()} {child.pid}")\n' +
      'os.rename("pids.new", "pids")\ntime.sleep(300)\n',
  );
  const client = spawn("python3", [program, "run", at("socket"), "script.py"], {
    cwd: folder,
    stdio: "ignore",
  });
  t.after(() => client.kill("SIGKILL"));
  await until("the script", () => existsSync(at("pids")));
  const [script, started] = readFileSync(at("pids"), "utf8").split(" ").map(Number);
  t.after(() => isRunning(started!) && process.kill(started!, "SIGKILL"));
  return { server, client, script: script!, started: started! };
}

const linux = process.platform === "linux" ? false : "needs Linux";

test("a warm script and its children end when its test file is killed", {
  skip: linux,
}, async (t) => {
  const { server, client, script, started } = await running(t);
  client.kill("SIGKILL");
  await until("their end", () => !isRunning(script) && !isRunning(started));
  assert.ok(isRunning(server.pid!));
});

test("a warm script ends when the suite is killed", { skip: linux }, async (t) => {
  const { server, script } = await running(t);
  server.kill("SIGKILL");
  await until("its end", () => !isRunning(script));
});

test("a forked server has the warm libraries, but only with its own preload, limits and threads", {
  skip: linux,
}, async (t) => {
  const { at, fork } = await forking(t, "import json\njson.noted = True\n");
  writeFileSync(at("server.py"), "import json, sys\nprint(hasattr(json, 'noted'), sys.stdin.read())\n");
  writeFileSync(at("other.py"), "import json\n");
  assert.equal(fork("preload.py"), "True asked\n");
  assert.equal(fork("other.py"), "False asked\n");
  assert.equal(fork("preload.py", { limit: "ulimit -n 200;" }), "False asked\n");
  assert.equal(fork("preload.py", { env: { OMP_NUM_THREADS: "7" } }), "False asked\n");
});

test("a forked server that removes its home leaves every script a folder for temporary files", {
  skip: linux,
}, async (t) => {
  const { folder, at, fork } = await forking(
    t,
    "import tempfile\ntempfile.tempdir = tempfile.gettempdir()\n",
  );
  mkdirSync(at("own-home"));
  writeFileSync(
    at("server.py"),
    "import shutil, sys, tempfile\nprint(tempfile.gettempdir())\nshutil.rmtree(sys.argv[2])\n",
  );
  assert.equal(fork("preload.py"), `${at("own-home")}\n`);
  assert.ok(!existsSync(at("own-home")));
  writeFileSync(at("script.py"), "import tempfile\nwith tempfile.TemporaryDirectory() as it: print(it)\n");
  const env = { ...process.env, TMPDIR: at("script-temporary") };
  mkdirSync(env.TMPDIR);
  const words = [program, "run", at("socket"), "script.py"];
  const { stdout, stderr } = spawnSync("python3", words, { cwd: folder, env, encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(dirname(stdout), env.TMPDIR);
});

/** A server, and what starts server.py with one of the preloads in it and returns what it prints. */
async function forking(t: TestContext, preload: string) {
  const { folder, at } = await serving(t, preload);
  const fork = (own: string, { env = {}, limit = "" } = {}) => {
    const command = `${limit} exec python3 "$@"`;
    const args = [program, "fork", at("socket"), "server.py", at(own), at("own-home")];
    const given = { cwd: folder, input: "asked", env: { ...process.env, ...env }, encoding: "utf8" } as const;
    const { stdout, stderr } = spawnSync("sh", ["-c", command, "sh", ...args], given);
    assert.equal(stderr, "");
    return stdout;
  };
  return { folder, at, fork };
}
