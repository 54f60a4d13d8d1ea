import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { fakeGpus, fakeNvidia } from "../../../../tests/support/machines/fake-nvidia.ts";
import { until } from "../../../../tests/support/processes.ts";
import { inBook } from "./gpu-book.ts";
import { type GpuLease, type GpuWish, handOver, heldGpus, leaseGpus, leaseOf } from "./gpu-leases.ts";
import { thisProcess } from "./owner.ts";

/** A host with four fake GPUs, and helpers that lease some. */
function host(t: TestContext, gpus = fakeGpus(4)) {
  const above = mkdtempSync(join(tmpdir(), "mlrb-leases-"));
  t.after(() => rmSync(above, { recursive: true }));
  const fake = fakeNvidia(join(above, "nvidia"), gpus);
  const folder = join(above, "leases");
  const env: NodeJS.ProcessEnv = { PATH: `${fake.bin}:/usr/bin:/bin`, MLRB_GPU_LEASES: folder };
  const ask = (wish: Partial<GpuWish>) => leaseGpus({ count: 1, run: "run", stage: "train", env, ...wish });
  const lease = async (wish: Partial<GpuWish> = {}): Promise<GpuLease> => {
    const got = await ask(wish);
    assert.ok(got && "gpus" in got, JSON.stringify(got));
    return got;
  };
  const indices = ({ gpus: held }: GpuLease) => held.map(({ uuid }) => fake.uuids.indexOf(uuid));
  const elsewhere = (count: number, work: string) => start(t, { count, work, env });
  return { fake, folder, env, ask, lease, indices, above, elsewhere };
}

/** Another process that leases some GPUs and then runs `work`, with `lease` in scope. */
function start(
  t: TestContext,
  { count, work, env }: { count: number; work: string; env: NodeJS.ProcessEnv },
) {
  const module = fileURLToPath(new URL("gpu-leases.ts", import.meta.url));
  const text = `import { leaseGpus } from ${JSON.stringify(module)};
import { appendFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
const lease = await leaseGpus({ count: ${count}, run: "other", stage: "s" + process.pid });
${work}`;
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "--input-type=module-typescript", "-e", text],
    {
      env,
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  t.after(() => child.kill("SIGKILL"));
  return child;
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.on("exit", (code) => resolve(code)));
}

test("fake GPUs are leased to one stage each, and again once they are released", async (t) => {
  const { lease, ask, indices, folder } = host(t);
  const first = await lease({ count: 3, stage: "attempt[seed=1]" });
  const second = await lease();
  assert.deepEqual([...indices(first), ...indices(second)].sort(), [0, 1, 2, 3]);
  assert.deepEqual(
    heldGpus(folder).map(({ run, stage, owner }) => [run, stage, owner.pid]),
    [...Array(3).fill(["run", "attempt[seed=1]", process.pid]), ["run", "train", process.pid]],
  );
  const waits: string[] = [];
  let asked = 0;
  const stopped = () => ++asked > 2;
  assert.equal(await ask({ waiting: (holder) => waits.push(holder), stopped }), undefined);
  assert.deepEqual(waits, [`attempt[seed=1] of process ${process.pid} on ${thisProcess().host} and 1 more`]);
  assert.ok(first.isHeld());
  first.release();
  assert.ok(!first.isHeld());
  first.release();
  assert.equal((await lease({ count: 3 })).gpus.length, 3);
});

test("the fake GPU of a killed holder is free without a release", async (t) => {
  const { elsewhere, lease, folder } = host(t);
  const child = elsewhere(4, "await sleep(1e9);");
  await until("the lease", () => heldGpus(folder).length === 4);
  const wanted = lease({ count: 4 });
  child.kill("SIGKILL");
  assert.equal((await wanted).gpus.length, 4);
  assert.deepEqual(new Set(heldGpus(folder).map(({ owner }) => owner.pid)), new Set([process.pid]));
});

test("a process that is killed while it waits for fake GPUs delays no other process", async (t) => {
  const { lease, folder, env } = host(t);
  await lease();
  const child = start(t, { count: 4, env, work: "" });
  const places = () => inBook(folder, (book) => book.entries().length);
  await until("its place in the queue", () => places() === 2);
  let waited = false;
  const waiting = () => {
    waited = true;
    child.kill("SIGKILL");
  };
  assert.equal((await lease({ count: 3, waiting })).gpus.length, 3);
  assert.ok(waited, "while it lived the three were kept for it");
});

test("processes that race for four fake GPUs never share one, even if some want all four", async (t) => {
  const { elsewhere, above, folder } = host(t);
  const file = join(above, "held");
  writeFileSync(file, "");
  // an append is atomic, so the order of lines is the order of events
  const work = `
const tell = (what) => appendFileSync(${JSON.stringify(file)}, lease.gpus.map(({ uuid }) => \`\${what} \${uuid}\\n\`).join(""));
tell("take");
await sleep(20);
tell("give");
if (process.pid % 3 > 0) lease.release(); // the others end without a word`;
  const children = [1, 4, 1, 1, 2, 1, 4, 1, 3, 1].map((count) => elsewhere(count, work));
  assert.deepEqual(
    await Promise.all(children.map(ended)),
    children.map(() => 0),
  );
  const held = new Set<string>();
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  assert.equal(lines.length, 2 * (6 * 1 + 2 * 4 + 2 + 3));
  for (const line of lines) {
    const [what, uuid] = line.split(" ");
    if (what === "take") assert.ok(!held.has(uuid!), `${uuid} was held by another`);
    what === "take" ? held.add(uuid!) : held.delete(uuid!);
  }
  assert.deepEqual(heldGpus(folder), []);
});

test("a fake GPU on which another process computes is not leased until that process is gone", async (t) => {
  const { fake, lease, indices } = host(t, fakeGpus(2));
  fake.compute({ uuid: fake.uuids[0]!, pid: 4711, name: "python, with a comma" });
  assert.deepEqual(indices(await lease()), [1]);
  const waits: string[] = [];
  const waited = lease({
    waiting(holder) {
      waits.push(holder);
      fake.compute({ uuid: fake.uuids[0]!, pid: 17, name: "nvidia-cuda-mps-server" });
    },
  });
  assert.deepEqual(indices(await waited), [0]);
  assert.match(
    waits.join(),
    /train of process|process 4711 \(python, with a comma\), which no run started, on GPU 0/,
  );
});

test("an unsound fake GPU is omitted and reported; too few sound ones are an answer, not a wait", async (t) => {
  const gpus = fakeGpus(4);
  gpus[0]!.errors = "7";
  gpus[1]!.errors = "[GPU is lost]";
  gpus[2]!.mig = "Enabled";
  const { lease, ask, indices, folder } = host(t, gpus);
  const said: string[] = [];
  assert.deepEqual(
    indices(await lease({ leftOut: ({ index, uuid }, why) => said.push(`GPU ${index} (${uuid}): ${why}`) })),
    [3],
  );
  assert.deepEqual(said, [
    `GPU 0 (${gpus[0]!.uuid}): 7 uncorrected memory errors since its driver was loaded; nvidia-smi --gpu-reset -i 0, or a reboot, sets it right if it is sound`,
    `GPU 1 (${gpus[1]!.uuid}): its driver says [GPU is lost]`,
    `GPU 2 (${gpus[2]!.uuid}): it is to be divided (MIG is on) and has no slices; nvidia-smi mig -cgi PROFILE -C`,
  ]);
  leaseOf({ folder, id: 1, owner: thisProcess() }, []).release();
  const lacking = await ask({ count: 2 });
  assert.ok(lacking && "lacking" in lacking);
  assert.match(lacking.lacking, /^it wants 2 undivided GPUs and 1 of 4 can be used; GPU 0: 7 uncorrected/);
  assert.deepEqual(heldGpus(folder), [], "who cannot have what it wants holds nothing");
});

test("a GPU is not leased if a fake driver stops answering or has lost the GPU since the run began", async (t) => {
  const { fake, ask, lease, indices } = host(t, fakeGpus(2));
  (await lease()).release();
  fake.set(fakeGpus(1));
  const one = await lease({ count: 1 });
  assert.deepEqual(indices(one), [0]);
  one.release();
  const gone = await ask({ count: 2 });
  assert.match(gone && "lacking" in gone ? gone.lacking : "", /GPU 1: the driver no longer lists it$/);
  fake.fail("Unable to determine the device handle", 255);
  const none = await ask({ count: 1 });
  assert.match(
    none && "lacking" in none ? none.lacking : "",
    /0 of 2 can be used; GPU 0: the driver no longer lists it \(nvidia-smi -L: Unable to determine the device handle\)/,
  );
});

test("a lease of a fake GPU that was handed over outlives its giver and ends with its new owner", async (t) => {
  const { lease, elsewhere, env, folder, above } = host(t, fakeGpus(1));
  const file = join(above, "hold.json");
  const giver = elsewhere(
    1,
    `writeFileSync(${JSON.stringify(`${file}.new`)}, JSON.stringify(lease)); await sleep(1e9);`,
  );
  const held = await until("its lease", () => {
    const text = existsSync(`${file}.new`) ? readFileSync(`${file}.new`, "utf8") : "";
    return text.endsWith("}") ? (JSON.parse(text) as GpuLease) : undefined;
  });
  const hold = handOver(held.hold);
  assert.ok(hold);
  assert.equal(handOver(held.hold), undefined, "it is no longer the giver's to give");
  leaseOf(held.hold, held.gpus).release(); // as the giver does at its end
  giver.kill("SIGKILL");
  await ended(giver);
  const mine = leaseOf(hold, held.gpus);
  assert.ok(mine.isHeld());
  let looks = 0;
  assert.equal(
    await leaseGpus({ count: 1, run: "r", stage: "s", env, stopped: () => ++looks > 2 }),
    undefined,
  );
  mine.release();
  assert.deepEqual(heldGpus(folder), []);
  assert.equal((await lease()).gpus.length, 1);
});

test("a handover is refused if the giver's lease of a fake GPU belongs to another process by now", async (t) => {
  const { lease, elsewhere, above } = host(t, fakeGpus(1));
  const file = join(above, "hold.json");
  const giver = elsewhere(
    1,
    `writeFileSync(${JSON.stringify(file)}, JSON.stringify(lease)); process.exit(0);`,
  );
  await ended(giver);
  const held = JSON.parse(readFileSync(file, "utf8")) as GpuLease;
  const other = await lease();
  assert.equal(handOver(held.hold), undefined);
  assert.ok(other.isHeld());
});

test("leases that are unreadable or in a newer format are an error with a way out", async (t) => {
  const { ask, folder, lease } = host(t, fakeGpus(1));
  (await lease()).release();
  writeFileSync(join(folder, "gpus.sqlite"), "not a database".repeat(100));
  await assert.rejects(ask({}), (error: Error) => {
    assert.equal(
      error.message,
      `the GPU leases in ${folder} cannot be used: file is not a database; if no run holds a GPU remove that folder, or name another for all runs in MLRB_GPU_LEASES`,
    );
    return true;
  });
  rmSync(folder, { recursive: true });
  (await lease()).release();
});

test("listing the held GPUs creates nothing if no fake GPU was ever leased", (t) => {
  const { folder } = host(t);
  assert.deepEqual(heldGpus(folder), []);
  assert.ok(!existsSync(folder));
});
