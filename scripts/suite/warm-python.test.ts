import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isRunning, until } from "../../tests/support/processes.ts";

const program = join(import.meta.dirname, "../../tests/support/warm_python.py");

/** A server with a running script that has started a program. */
async function running(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "warm-python-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  writeFileSync(at("preload.py"), "");
  writeFileSync(
    at("script.py"),
    'import os, subprocess, time\nchild = subprocess.Popen(["sleep", "300"])\n' +
      'with open("pids.new", "w") as file:\n    file.write(f"{os.getpid()} {child.pid}")\n' +
      'os.rename("pids.new", "pids")\ntime.sleep(300)\n',
  );
  const server = spawn("python3", [program, "serve", at("socket"), at("preload.py")], { stdio: "ignore" });
  t.after(() => server.kill("SIGKILL"));
  const listens = new RegExp(` 00010000 .* ${at("socket")}$`, "m"); // before, the client would run the script itself
  await until("the socket", () => listens.test(readFileSync("/proc/net/unix", "latin1")));
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
