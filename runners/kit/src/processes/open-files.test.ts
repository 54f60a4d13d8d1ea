import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { deletedMappings, openFiles } from "./open-files.ts";

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

const linux = process.platform === "linux" ? {} : { skip: "needs /proc" };

/** Looks at a Python program, in its own folder, once it prints a line. */
async function look(t: TestContext, code: string) {
  const folder = mkdtempSync(join(tmpdir(), "open-files-"));
  const child = spawn("python3", ["-c", code], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  });
  await once(child.stdout, "data");
  return openFiles(() => [child.pid!], statSync(folder).dev);
}

const waits = "print(1, flush=True); sys.stdin.read()";
const file = "import os, socket, sys; f = os.open('f', 66); os.write(f, b'x' * (1 << 20)); os.unlink('f')";

test("a deleted file counts while a descriptor holds it", linux, async (t) => {
  const { openBytes, mappedBytes, hidden } = await look(t, `${file}; ${waits}`);
  assert.ok(openBytes >= 1 << 20, String(openBytes));
  assert.deepEqual([mappedBytes, hidden], [0, false]);
});

test("a deleted file in the queue of a socket is hidden, and honest sockets are not", linux, async (t) => {
  const park = "a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [f]); os.close(f)";
  assert.equal((await look(t, `${file}; ${park}; ${waits}`)).hidden, true);
  const honest = "a, b = socket.socketpair(); a.send(b'x'); os.close(f)";
  assert.deepEqual(await look(t, `${file}; ${honest}; ${waits}`), {
    openBytes: 0,
    mappedBytes: 0,
    hidden: false,
  });
});

for (const [what, code] of [
  ["multiprocessing", "import sys, multiprocessing as m; p = m.Pool(2); p.map(abs, [1, 2])"],
  [
    "an accepted descriptor",
    "import os, socket, sys; a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [0]); socket.recv_fds(b, 1, 1)",
  ],
])
  test(`${what} hides nothing`, linux, async (t) => {
    assert.equal((await look(t, `${code}; ${waits}`)).hidden, false);
  });

test("a process that ends before its turn is hidden, unless a later look finds its successor", linux, () => {
  const gone = 2 ** 22 + 1;
  assert.equal(openFiles(() => [gone], 0).hidden, true);
  const lists = [[gone], [process.pid]];
  assert.equal(openFiles(() => lists.shift() ?? [process.pid], 0).hidden, false);
});

test("a process that is dead and not reaped hides nothing", linux, async (t) => {
  const zombie =
    "import os, sys; child = os.fork() or os._exit(0); print(child, flush=True); sys.stdin.read()";
  const child = spawn("python3", ["-c", zombie], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const [line] = await once(child.stdout, "data");
  await until(() => /^State:\tZ/m.test(readFileSync(`/proc/${Number(line)}/status`, "latin1")));
  assert.equal(openFiles(() => [Number(line)], 0).hidden, false);
});

test("only mappings of deleted files on the same disk count, each file with all its parts", () => {
  const maps = [
    "7f0000000000-7f0000002000 rw-s 00000000 fe:01 12 /a/f (deleted)",
    "7f0000003000-7f0000004000 rw-s 00002000 fe:01 12 /a/f (deleted)",
    "7f0000005000-7f0000006000 rw-s 00000000 fe:02 13 /b/f (deleted)",
    "7f0000007000-7f0000008000 r-xp 00000000 fe:01 14 /usr/lib/x.so",
  ];
  assert.deepEqual([...deletedMappings(maps.join("\n"), 0xfe01)], [[12, 0x3000]]);
});
