import assert from "node:assert/strict";
import childProcess from "node:child_process";
import { EventEmitter } from "node:events";
import fs, { fstatSync, openSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import timers from "node:timers/promises";
import type { ExecRequest } from "@mlrb/core/ports/sandbox";
import type { BubblewrapArguments } from "./bubblewrap-arguments.ts";
import { startBubblewrap } from "./bubblewrap-process.ts";
import type { SandboxProcess } from "./sandbox-process.ts";

/** No process has this number: the kernel counts to 2^22 at most. */
const noProcess = 2 ** 22 + 1;

type Spawned = { program: string; argv: string[]; stdio: (string | number)[]; env: Record<string, string> };

/** A bubblewrap that the test drives. Processes are not really killed: `killed` holds their numbers. */
class FakeBubblewrap extends EventEmitter {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly #information = new PassThrough();
  readonly stdio = [this.stdin, this.stdout, this.stderr, this.#information];
  readonly killed: (number | string)[] = [];
  spawned: Spawned | undefined;
  /** Whether spawning fails. */
  refuses = false;
  /** The contents of the descriptors that it got. */
  texts: string[] = [];

  /** Its own end, by `child.kill`. */
  kill(signal: string): void {
    this.killed.push(signal);
    this.end(null, signal);
  }

  inform(pid: number): void {
    this.#information.end(JSON.stringify({ "child-pid": pid }, null, 4));
  }

  answer(kind: string, id: number, text: string | Uint8Array = ""): void {
    const bytes = Buffer.from(text);
    const header = Buffer.alloc(9);
    header.write(kind, 0, "latin1");
    header.writeUInt32BE(id, 1);
    header.writeUInt32BE(bytes.length, 5);
    this.stdout.write(Buffer.concat([header, bytes]));
  }

  end(code: number | null, signal: string | null = null): void {
    this.#information.end();
    this.emit("close", code, signal);
  }
}

function scene(t: TestContext): FakeBubblewrap {
  const fake = new FakeBubblewrap();
  t.mock.method(
    childProcess,
    "spawn",
    (
      program: string,
      argv: string[],
      { stdio, env }: { stdio: (string | number)[]; env: Record<string, string> },
    ) => {
      fake.spawned = { program, argv, stdio, env };
      if (fake.refuses) throw new Error("EAGAIN");
      fake.texts = stdio.flatMap((one) => (typeof one === "number" ? [readFileSync(one, "utf8")] : []));
      return fake;
    },
  );
  t.mock.method(process, "kill", (pid: number) => fake.killed.push(pid));
  t.mock.method(timers, "setTimeout", async () => {});
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return fake;
}

const plain: BubblewrapArguments = { argv: ["--dev", "/dev"], given: [] };

/** Starts it with `pid` as its first process. */
async function started(fake: FakeBubblewrap, pid = noProcess): Promise<SandboxProcess> {
  const starting = startBubblewrap(plain, () => [], [], "token");
  fake.inform(pid);
  fake.answer("r", 0);
  const begun = await starting;
  assert.ok(!("failed" in begun));
  return begun;
}

/** A request for a program, with its output. */
function program(more: Partial<ExecRequest> = {}): ExecRequest & { printed: string[] } {
  const printed: string[] = [];
  const onOutput = (stream: string, bytes: Uint8Array) => printed.push(`${stream}: ${Buffer.from(bytes)}`);
  return { argv: ["true"], cwd: "/w", env: {}, onOutput, printed, ...more };
}

test("bubblewrap is started with its token and nothing else of the environment", async (t) => {
  const fake = scene(t);
  await started(fake);
  assert.equal(fake.spawned?.program, "bwrap");
  assert.deepEqual(fake.spawned.env, { MLRB_TOKEN: "token" });
});

test("texts and control groups are passed as descriptors, with their numbers in the arguments", async (t) => {
  const fake = scene(t);
  const group = openSync(import.meta.filename, "r");
  const given = ["one", "two"];
  const argv = ["--file", "{fd:1}", "/b", "--file", "{fd:0}", "/a", "not-{fd:0}"];
  const starting = startBubblewrap({ argv, given }, (groups) => ["init", groups.join(",")], [group], "token");
  fake.inform(noProcess);
  fake.answer("r", 0);
  await starting;
  const files = ["--file", "5", "/b", "--file", "4", "/a", "not-{fd:0}"];
  assert.deepEqual(fake.spawned?.argv, ["--info-fd", "3", ...files, "init", "6"]);
  assert.deepEqual(fake.texts.slice(0, 2), ["one", "two"]);
  assert.equal(fake.spawned.stdio[6], group);
});

test("descriptors are closed once they were passed, and if bubblewrap cannot be spawned", async (t) => {
  for (const spawns of [true, false]) {
    await t.test(spawns ? "passed" : "not spawned", async (t) => {
      const fake = scene(t);
      const closed: number[] = [];
      const { closeSync } = fs;
      t.mock.method(fs, "closeSync", (descriptor: number) => {
        closed.push(descriptor);
        closeSync(descriptor);
      });
      fake.refuses = !spawns;
      syncBuiltinESMExports();
      const group = openSync(import.meta.filename, "r");
      const given = ["one"];
      const starting = startBubblewrap({ argv: [], given }, () => [], [group], "token");
      if (spawns) {
        fake.inform(noProcess);
        fake.answer("r", 0);
        await starting;
      } else await assert.rejects(starting, /EAGAIN/);
      assert.ok(closed.includes(group));
      assert.ok(closed.includes(fake.spawned?.stdio[4] as number));
      assert.throws(() => fstatSync(group), { code: "EBADF" });
    });
  }
});

test("the first process has the pid that bubblewrap reports", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  assert.equal(begun.first, noProcess);
  assert.equal(begun.living(), true);
});

test("a bubblewrap that ends at its start fails with its last line", async (t) => {
  const fake = scene(t);
  const starting = startBubblewrap(plain, () => [], [], "token");
  fake.stderr.write("bwrap: setting up\nbwrap: No permissions to create a new namespace\n");
  await new Promise((resolve) => setImmediate(resolve));
  fake.end(1);
  assert.deepEqual(await starting, { failed: "bwrap: No permissions to create a new namespace" });
});

test("a bubblewrap that ends at its start without output fails too", async (t) => {
  const fake = scene(t);
  const starting = startBubblewrap(plain, () => [], [], "token");
  fake.end(0);
  assert.deepEqual(await starting, { failed: "bubblewrap ended before it had begun" });
});

test("a bubblewrap that reports no first process is killed, and fails", async (t) => {
  const fake = scene(t);
  const starting = startBubblewrap(plain, () => [], [], "token");
  fake.stdio[3]!.end("{}");
  fake.answer("r", 0);
  assert.ok("failed" in (await starting));
  assert.deepEqual(fake.killed, ["SIGKILL"]);
});

test("a program's output comes first, then its exit code", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  const asked = program({ argv: ["train", "--fast"], env: { A: "1" } });
  const result = begun.exec(asked);
  assert.equal(fake.stdin.read().subarray(4).toString(), "1\0/w\x002\0train\0--fast\0A=1");
  fake.answer("o", 1, "half");
  fake.answer("e", 1, "oops");
  fake.answer("x", 1, "3");
  assert.deepEqual(await result, { kind: "exited", code: 3 });
  assert.deepEqual(asked.printed, ["stdout: half", "stderr: oops"]);
});

test("concurrent programs each get their own output and end", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  const asked = [program(), program()];
  const results = asked.map((one) => begun.exec(one));
  fake.answer("o", 2, "second");
  fake.answer("x", 2, "0");
  fake.answer("o", 1, "first");
  fake.answer("s", 1, "9");
  assert.deepEqual(await Promise.all(results), [
    { kind: "signalled", signal: "SIGKILL" },
    { kind: "exited", code: 0 },
  ]);
  assert.deepEqual(
    asked.map(({ printed }) => printed),
    [["stdout: first"], ["stdout: second"]],
  );
});

test("a signal without a name is reported by its number", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  const result = begun.exec(program());
  fake.answer("s", 1, "37");
  assert.deepEqual(await result, { kind: "signalled", signal: "signal 37" });
});

test("a program that cannot be started is reported with the reason", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  const result = begun.exec(program());
  fake.answer("f", 1, "no such program on the PATH");
  assert.deepEqual(await result, { kind: "not-started", detail: "no such program on the PATH" });
});

test("an answer about an unknown program changes nothing", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  const result = begun.exec(program());
  fake.answer("o", 7, "foreign");
  fake.answer("x", 7, "0");
  fake.answer("x", 1, "0");
  assert.deepEqual(await result, { kind: "exited", code: 0 });
});

test("programs are lost if bubblewrap ends by itself, with its last line or how it ended", async (t) => {
  const ends: [string, number | null, string | null, string][] = [
    ["", 1, null, "bubblewrap ended with exit code 1"],
    ["", null, "SIGSEGV", "bubblewrap ended by SIGSEGV"],
    ["bwrap: out of memory\n", 1, null, "bwrap: out of memory"],
  ];
  for (const [words, code, signal, detail] of ends) {
    await t.test(detail, async (t) => {
      const fake = scene(t);
      const begun = await started(fake);
      const results = [begun.exec(program()), begun.exec(program())];
      fake.stderr.write(words);
      await new Promise((resolve) => setImmediate(resolve));
      fake.end(code, signal);
      const lost = { kind: "lost", detail };
      assert.deepEqual(await Promise.all(results), [lost, lost]);
      assert.equal(begun.living(), false);
    });
  }
});

test("a program requested after the end is lost", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  fake.end(0);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(await begun.exec(program()), { kind: "lost", detail: "the sandbox has ended" });
});

test("an argument with a zero byte is refused, and other programs are unaffected", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  const other = begun.exec(program());
  await assert.rejects(begun.exec(program({ argv: ["a\0b"] })), /zero byte/);
  fake.answer("x", 1, "0");
  assert.deepEqual(await other, { kind: "exited", code: 0 });
});

test("end() kills the first process, and its programs count as killed, not lost", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  const result = begun.exec(program());
  const ending = begun.end();
  assert.deepEqual(fake.killed, [noProcess]);
  fake.end(null, "SIGKILL");
  await ending;
  assert.deepEqual(await result, { kind: "signalled", signal: "SIGKILL" });
  assert.equal(begun.living(), false);
});

test("end() waits until bubblewrap itself has ended", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  let over = false;
  const ending = begun.end().then(() => {
    over = true;
  });
  for (let round = 0; round < 5; round++) await Promise.resolve();
  assert.equal(over, false);
  fake.end(0);
  await ending;
});

test("end() after the end kills nothing", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  fake.end(0);
  await new Promise((resolve) => setImmediate(resolve));
  await begun.end();
  assert.deepEqual(fake.killed, [], "another process may have its pid by now");
});

test("a first process that does not end is named", async (t) => {
  const fake = scene(t);
  const begun = await started(fake, process.pid); // stays alive: nothing is really killed here
  await assert.rejects(begun.end(), new RegExp(`the sandbox, ${process.pid}, would not end`));
  assert.ok(fake.killed.length > 1, "end() tries repeatedly");
});

test("a pipe that breaks with bubblewrap raises no error of its own", async (t) => {
  const fake = scene(t);
  const begun = await started(fake);
  const result = begun.exec(program());
  fake.stdin.emit("error", Object.assign(new Error("EPIPE"), { code: "EPIPE" }));
  fake.end(1);
  assert.equal((await result).kind, "lost");
});
