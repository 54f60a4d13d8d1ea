import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type JobEnd, type Spawner, startSpawner } from "./spawner.ts";

const linux = process.platform === "linux";
const env = { PATH: process.env.PATH ?? "" };

function scene(t: TestContext, python: string | null) {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-spawner-"));
  const spawner = startSpawner(folder, { python });
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
  test(`a program started by ${name}: its place, its variables, what it says and how it ends`, async (t) => {
    const { folder, spawner, log } = scene(t, python);
    const said = await endOf(
      spawner,
      ["sh", "-c", 'pwd; echo "$WORD"; env | wc -l; cat; echo oh >&2; exit 3'],
      log,
      { WORD: "ü$x\n\"'" },
    );
    const { code, signal } = said as JobEnd & { kind: "ended" };
    assert.deepEqual({ code, signal }, { code: 3, signal: null });
    // PATH, WORD, of which there are two lines, and what sh sets: PWD, perhaps more
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

test("what a job leaves behind is ended with it, though it cleaned its environment and went its own way", {
  skip: linux ? false : "a subreaper is Linux's",
}, async (t) => {
  const { folder, spawner, log } = scene(t, "python3");
  const file = join(folder, "pid");
  const stray = `cd /; exec env -i setsid sh -c 'echo $$ > "${file}.new"; mv "${file}.new" "${file}"; exec sleep 300'`;
  // a second job must not shield it for longer than it runs itself
  const other = endOf(spawner, ["sleep", "0.4"], log);
  await endOf(spawner, ["sh", "-c", `(${stray}) & while [ ! -e "${file}" ]; do sleep 0.02; done`], log);
  await other;
  const pid = Number(readFileSync(file, "utf8"));
  for (let look = 0; existsSync(`/proc/${pid}`); look++) {
    assert.ok(look < 200, "it is still there");
    await sleep(20);
  }
});

test("a large answer and a large environment come through whole", async (t) => {
  const { spawner, log } = scene(t, "python3");
  const word = "x".repeat(100_000);
  const said = await endOf(spawner, ["sh", "-c", 'printf %s "$WORD" | wc -c'], log, { WORD: word });
  assert.equal((said as { code: number }).code, 0);
  assert.equal(readFileSync(log, "utf8").trim(), "100000");
});

test("a runner that is busy while the helper starts does not end it for having been silent", {
  skip: linux ? false : "the helper is Linux's",
}, async (t) => {
  const { spawner, log } = scene(t, "python3");
  const until = performance.now() + 5_600;
  while (performance.now() < until) Math.sqrt(2); // longer than it may take to answer
  const ends = await Promise.all([1, 2].map(() => endOf(spawner, ["sh", "-c", "exit 4"], log)));
  for (const end of ends) assert.deepEqual((end as { code: number }).code, 4);
  const { peakMemoryBytes } = ends[0] as { peakMemoryBytes?: number };
  assert.ok(peakMemoryBytes, "it was the helper that started it");
});
