import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcesses, findProcesses } from "./end-processes.ts";
import { freezeProcesses, thawProcesses } from "./freeze-processes.ts";
import type { FindProcesses } from "./process-table.ts";

const onLinux = { skip: process.platform === "linux" ? false : "looks into /proc", timeout: 60_000 };

/** Runs Python that counts in files below the folder; gives a look at the count. */
function counting(t: TestContext, body: string) {
  const folder = mkdtempSync(join(tmpdir(), "freeze-"));
  const token = randomBytes(12).toString("hex");
  const program = `
import ctypes, os, signal, sys, threading, time
def count(name, pause=0.0):
    number = 0
    while True:
        number += 1
        with open(name + ".new", "w") as file:
            file.write(str(number))
        os.rename(name + ".new", name)
        time.sleep(pause)
${body}`;
  const child: ChildProcess = spawn("python3", ["-I", "-S", "-c", program], {
    ...{ cwd: folder, env: { PATH: process.env.PATH, MLRB_TOKEN: token }, stdio: "ignore", detached: true },
  });
  const known = { token, root: folder, groups: [child.pid!] };
  const end = () => endProcesses(known);
  t.after(async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  });
  const find: FindProcesses = (first, before) => findProcesses({ ...known, first }, before);
  const count = (name = "count") => {
    const file = join(folder, name);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  };
  const moves = async (name?: string) => {
    const before = count(name);
    for (let round = 0; round < 1000 && count(name) === before; round++) await sleep(10);
    return count(name) !== before;
  };
  return { find, count, moves, end };
}

test("a frozen process makes no progress and continues after thawing", onLinux, async (t) => {
  const { find, count, moves } = counting(t, 'count("count")');
  assert.ok(await moves());
  const frozen = await freezeProcesses(find);
  assert.ok(frozen);
  const still = count();
  await sleep(100);
  assert.equal(count(), still);
  assert.equal(thawProcesses(frozen, find), true);
  assert.ok(await moves());
});

/** Four chains of processes, each of which starts the next and ends. `alone`: each in a session of its own. */
const chains = (alone = false) => `
for _ in range(4):
    if os.fork() == 0:
        while True:
            if os.fork() > 0:
                os._exit(0)
            ${alone ? "os.setsid()" : "pass"}
            with open("count", "a") as file:
                file.write("1")`;
const waits = `
while True:
    time.sleep(9)`;

for (const { title, body } of [
  { title: "a chain of processes that start the next and end", body: chains() },
  { title: "such a chain, each in a session of its own", body: chains(true) },
  { title: "such a chain whose first process waits", body: chains(true) + waits },
])
  test(`${title} ends, all of it`, { ...onLinux, timeout: 120_000 }, async (t) => {
    for (let round = 0; round < 5; round++) {
      const { count, moves, end } = counting(t, body);
      assert.ok(await moves());
      await end();
      const still = count();
      await sleep(50);
      assert.equal(count(), still);
    }
  });

test("processes that fork while they are being stopped stay frozen, all of them", onLinux, async (t) => {
  const { find, count, moves } = counting(t, chains() + waits);
  assert.ok(await moves());
  const frozen = await freezeProcesses(find);
  assert.ok(frozen, "chains of four processes that pass on a fork");
  const still = count();
  await sleep(100);
  assert.equal(count(), still);
  assert.equal(thawProcesses(frozen, find), true);
});

test("a process whose first thread has ended is stopped like any other", onLinux, async (t) => {
  const { find, count, moves } = counting(
    t,
    `
threading.Thread(target=count, args=("count",)).start()
ctypes.CDLL(None).pthread_exit(None)`,
  );
  assert.ok(await moves());
  const frozen = await freezeProcesses(find);
  assert.ok(frozen);
  const still = count();
  await sleep(100);
  assert.equal(count(), still);
  assert.equal(thawProcesses(frozen, find), true);
  assert.ok(await moves());
});

test("a process that was woken while it was stopped is detected", onLinux, async (t) => {
  const { find, moves } = counting(
    t,
    `
import struct
libc = ctypes.CDLL(None, use_errno=True)
class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signo", ctypes.c_int), ("notify", ctypes.c_int), ("pad", ctypes.c_char * 64)]
timer = ctypes.c_void_p()
libc.timer_create(1, ctypes.byref(Event(None, signal.SIGCONT, 0)), ctypes.byref(timer))
spec = (ctypes.c_long * 4)(0, 400_000_000, 0, 400_000_000)
libc.timer_settime(timer, 0, spec, None)
count("count")`,
  );
  assert.ok(await moves());
  const frozen = await freezeProcesses(find);
  if (!frozen) return; // it never came to a stop: that says the same
  assert.ok(await moves(), "it had itself woken");
  await sleep(200);
  assert.equal(thawProcesses(frozen, find), false);
});
