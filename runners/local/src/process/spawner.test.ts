import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Job, type Spawner, startSpawner } from "./spawner.ts";
import { type JobEnd, SpawnerHelper } from "./spawner-helper.ts";

const linux = process.platform === "linux";
const env = { PATH: process.env.PATH ?? "" };

function scene(t: TestContext, python: string | null) {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-spawner-"));
  const spawner = startSpawner(folder, python);
  t.after(() => {
    spawner.close();
    rmSync(folder, { recursive: true });
  });
  return { folder, spawner, log: join(folder, "log") };
}

async function endOf(spawner: Spawner, argv: string[], log: string, more = {}): Promise<JobEnd> {
  const spawned = await spawner.spawn({ argv, env: { ...env, ...more }, log });
  return "failed" in spawned ? { kind: "failed", detail: spawned.failed } : spawned.ended;
}

for (const [name, python] of [
  ["the helper", "python3"],
  ["itself", null],
  ["itself for want of Python", "there-is-no-python-here"],
] as const) {
  test(`a program started by ${name} has its folder, variables, output and exit status`, async (t) => {
    const { folder, spawner, log } = scene(t, python);
    const said = await endOf(
      spawner,
      ["sh", "-c", 'pwd; echo "$WORD"; env | wc -l; cat; echo oh >&2; exit 3'],
      log,
      { WORD: "ü$x\n\"'" },
    );
    const { code, signal } = said as JobEnd & { kind: "ended" };
    assert.deepEqual({ code, signal }, { code: 3, signal: null });
    // PATH, WORD (two lines), and sh's own variables: PWD, perhaps more
    assert.match(readFileSync(log, "utf8"), new RegExp(`^${folder}\nü\\$x\n"'\n[45678]\noh\n$`));
    const hit = (await endOf(spawner, ["sh", "-c", "kill -TERM $$"], log)) as JobEnd & { kind: "ended" };
    assert.deepEqual([hit.code, hit.signal], [null, "SIGTERM"]);
    const pipe = (await endOf(spawner, ["sh", "-c", "kill -PIPE $$"], log)) as JobEnd & { kind: "ended" };
    assert.equal(pipe.signal, "SIGPIPE", "no signal is ignored that a shell would not ignore");
    const none = await endOf(spawner, ["there-is-no-such-program"], log);
    assert.equal(none.kind, "failed");
    assert.match((none as { detail: string }).detail, /ENOENT/);
    const many = await Promise.all(
      Array.from({ length: 20 }, (_, index) => endOf(spawner, ["sh", "-c", `exit ${index}`], log)),
    );
    assert.deepEqual(
      many.map((one) => (one as { code: number }).code),
      Array.from({ length: 20 }, (_, index) => index),
    );
  });
}

test("a job's leftovers end with the job, even with a cleaned environment and a session of their own", {
  skip: linux ? false : "a subreaper is Linux's",
}, async (t) => {
  const { folder, spawner, log } = scene(t, "python3");
  const file = join(folder, "pid");
  const stray = `cd /; exec env -i setsid sh -c 'echo $$ > "${file}.new"; mv "${file}.new" "${file}"; exec sleep 300'`;
  // a second job must not protect the leftover for longer than the job itself runs
  const other = endOf(spawner, ["sleep", "0.4"], log);
  await endOf(spawner, ["sh", "-c", `(${stray}) & while [ ! -e "${file}" ]; do sleep 0.02; done`], log);
  await other;
  const pid = Number(readFileSync(file, "utf8"));
  for (let look = 0; existsSync(`/proc/${pid}`); look++) {
    assert.ok(look < 200, "it is still there");
    await sleep(20);
  }
});

test("a job is alone unless a process that it started is left, and its start and end are one answer", {
  skip: linux ? false : "a subreaper is Linux's",
}, async (t) => {
  const { spawner, log } = scene(t, "python3");
  const aloneAfter = async (script: string) => {
    const end = await endOf(spawner, ["sh", "-c", script], log);
    return end.kind === "ended" && end.alone === true;
  };
  const other = aloneAfter("sleep 0.3; true"); // with a child of its own
  assert.equal(await aloneAfter("true"), true);
  assert.equal(await aloneAfter("sh -c 'sleep 0.01 & wait'"), true);
  assert.equal(await other, true);
  assert.equal(await aloneAfter("env -i setsid sleep 300 & true"), false);
  assert.equal(await aloneAfter("(setsid sh -c 'setsid sleep 0.3 &') & wait"), false);
});

test("a large answer and a large environment arrive complete", async (t) => {
  const { spawner, log } = scene(t, "python3");
  const word = "x".repeat(100_000);
  const said = await endOf(spawner, ["sh", "-c", 'printf %s "$WORD" | wc -c'], log, { WORD: word });
  assert.equal((said as { code: number }).code, 0);
  assert.equal(readFileSync(log, "utf8").trim(), "100000");
});

test("a helper that answered while this process was busy is accepted, and one that never answers is not", async (t) => {
  const argv = ["python3", "-I", "-S", "-B", join(import.meta.dirname, "spawner.py")];
  const folder = mkdtempSync(join(tmpdir(), "mlrb-spawner-"));
  const helper = new SpawnerHelper<Job>({ argv, cwd: folder, readyMs: 1 });
  const silent = new SpawnerHelper<Job>({ argv: ["sleep", "300"], cwd: folder, readyMs: 1 });
  t.after(() => {
    helper.close();
    rmSync(folder, { recursive: true });
  });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
  assert.deepEqual([await helper.ready, helper.living()], [undefined, true]);
  const spawned = await helper.spawn({ argv: ["true"], env, log: join(folder, "log") });
  assert.ok("ended" in spawned);
  assert.equal((await spawned.ended).kind, "ended");
  assert.deepEqual([await silent.ready, silent.living()], ["it does not answer", false]);
});

test("a helper that prints an invalid answer is ended, and its jobs fail", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-spawner-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const program = `echo '{"ready":true}'; read job; echo "a library's greeting"; exec sleep 300`;
  const helper = new SpawnerHelper<Job>({ argv: ["sh", "-c", program], cwd: folder, readyMs: 60_000 });
  assert.equal(await helper.ready, undefined);
  assert.deepEqual(await helper.spawn({ argv: ["true"], env, log: join(folder, "log") }), {
    failed: "the process that starts programs ended",
  });
});
