import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

/** A process that prints for how long it was stopped, for each line of its input. */
function watched(t: TestContext, busyMs: number) {
  const file = join(import.meta.dirname, "stopped-time.ts");
  const code = `
    import { writeFileSync } from "node:fs";
    import { watchStopped } from ${JSON.stringify(file)};
    const stopped = watchStopped({ tickMs: 20, leastMs: 200 });
    process.stdin.on("data", () => {
      const end = performance.now() + ${busyMs};
      while (performance.now() < end);
      setTimeout(() => console.log(stopped.take()), 50);
    });
    const alive = setInterval(() => {}, 1000);
    void stopped.began.then(() => {
      clearInterval(alive);
      console.log("ready");
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return { child, line: async () => (await lines.next()).value as string };
}

test("a process that was stopped knows for how long", async (t) => {
  const { child, line } = watched(t, 0);
  assert.equal(await line(), "ready");
  child.kill("SIGSTOP");
  await sleep(600);
  child.kill("SIGCONT");
  await sleep(50);
  child.stdin.write("now\n");
  const ms = Number(await line());
  assert.ok(ms > 450 && ms < 1500, `${ms} ms`);
});

test("a busy process was not stopped", async (t) => {
  const { child, line } = watched(t, 500);
  await once(child, "spawn");
  assert.equal(await line(), "ready");
  child.stdin.write("now\n");
  assert.equal(await line(), "0");
});
