// Each stage holds whole GPUs of its own while it runs, over runs that do not know each other. A fake nvidia-smi
// replaces the host's driver: this tests bookkeeping, nothing here computes on a device.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { actionsIn } from "./support/end-state.ts";
import { filesBelow, type Lab, lab, outcomes, summary } from "./support/lab.ts";
import { type FakeNvidia, fakeGpus, fakeNvidia } from "./support/machines/fake-nvidia.ts";
import { stageProcesses, until } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

type Host = { fake: FakeNvidia; env: Record<string, string>; held: string; lines(): string[] };

function host(at: Lab, gpus: number): Host {
  const fake = fakeNvidia(join(at.outside, "nvidia"), fakeGpus(gpus));
  const held = join(at.outside, "held");
  writeFileSync(held, "");
  const env = { PATH: `${fake.bin}:${process.env.PATH}`, MLRB_GPU_LEASES: join(at.outside, "leases") };
  const lines = () => readFileSync(held, "utf8").split("\n").filter(Boolean);
  return { fake, env, held, lines };
}

/** Prints its devices, does `work`, prints their return. Appends are whole. */
const holding = ({ held }: Host, work: string) =>
  `echo take $CUDA_VISIBLE_DEVICES >> '${held}'; ${work}; echo give $CUDA_VISIBLE_DEVICES >> '${held}'`;

/** Throws if a device is taken before it was returned; returns the maximum number held at once. */
function mostAtOnce(lines: string[]): number {
  const now = new Set<string>();
  let most = 0;
  for (const line of lines) {
    const [what, list = ""] = line.split(" ");
    for (const uuid of list.split(",")) {
      if (what === "take") assert.ok(!now.has(uuid), `${uuid} is shared`);
      what === "take" ? now.add(uuid) : now.delete(uuid);
    }
    most = Math.max(most, now.size);
  }
  assert.equal(now.size, 0);
  return most;
}

const run = (at: Lab, root: string, { env }: Host, ...args: string[]) =>
  at.start(["run", at.name, "--json", "--jobs", "8", "--root", root, ...args], { env });

test("eight stages with one GPU each on four fake GPUs, in two runs on two state folders, never share one", async (t) => {
  const at = lab(t, repository);
  const here = host(at, 4);
  const stage = { command: holding(here, "sleep 0.3"), resources: { gpus: 1, cpus: 1 } };
  at.define({
    axes: { seed: [1, 2, 3, 4] },
    stages: {
      train: { each: ["seed"], ...stage, params: { seed: "{seed}" } },
    },
  });
  const runs = ["one", "two"].map((name) => run(at, join(at.outside, name), here));
  for (const { ended } of runs) {
    const said = await ended;
    assert.equal(said.code, 0, said.stdout + said.stderr);
    assert.equal(summary(said).outcomes.succeeded, 4);
  }
  assert.equal(here.lines().length, 16);
  assert.ok(mostAtOnce(here.lines()) > 1, "they run at the same time");
});

test("a stage with four fake GPUs gets them while one-GPU stages wait, and all of them end", async (t) => {
  const at = lab(t, repository);
  const here = host(at, 4);
  at.define({
    axes: { seed: [1, 2, 3, 4, 5, 6] },
    stages: {
      small: {
        each: ["seed"],
        command: holding(here, "sleep 0.2"),
        params: { seed: "{seed}" },
        resources: { gpus: 1 },
      },
    },
  });
  const large = lab(t, repository);
  large.define({ stages: { large: { command: holding(here, "sleep 0.2"), resources: { gpus: 4 } } } });
  const small = run(at, at.root, here);
  await until("the first small ones", () => here.lines().length > 0);
  const both = [small, run(large, large.root, here)];
  for (const { ended } of both) assert.equal((await ended).code, 0);
  assert.equal(mostAtOnce(here.lines()), 4);
});

test("the next run gets the GPUs of a killed run as soon as no process of that run remains", async (t) => {
  const at = lab(t, repository);
  const here = host(at, 1);
  at.define({
    stages: {
      train: { command: holding(here, `test -e '${at.outside}/go' || sleep 600`), resources: { gpus: 1 } },
    },
  });
  const first = run(at, at.root, here);
  await until("it runs", () => here.lines().length > 0);
  const status = await at.pipeline(["status", at.name, "--json", "--root", at.root], { env: here.env });
  const gpu = status.lines.find(({ event }) => event === "held-gpu")!;
  assert.deepEqual([gpu.uuid, gpu.stage, gpu.owner.pid], [here.fake.uuids[0], "train", first.child.pid]);
  const people = await at.pipeline(["status", at.name, "--root", at.root], { env: here.env });
  assert.match(people.stdout, /GPUs in use on this host\n {2}0 {2}Fake A100-SXM4-80GB \(GPU-0+-/);

  // another run waits for it, and receives an interrupt while waiting
  const other = at.start(["run", at.name, "--root", join(at.outside, "other")], { env: here.env });
  await until("it waits", () =>
    /waits {3}train {2}\(train of process \d+ on .* holds a GPU that it wants\)/.test(
      other.stdout() + other.stderr(),
    ),
  );
  other.child.kill("SIGINT");
  assert.equal((await other.ended).code, 130);

  writeFileSync(join(at.outside, "go"), "");
  writeFileSync(here.held, "");
  first.child.kill("SIGKILL");
  await first.ended;
  const again = await run(at, at.root, here).ended;
  assert.equal(again.code, 0, again.stdout + again.stderr);
  assert.deepEqual(here.lines(), [`take ${here.fake.uuids[0]}`, `give ${here.fake.uuids[0]}`]);
  assert.deepEqual(stageProcesses(at.root), []);
});

test("a stage sees only the fake GPUs that it holds, none if it wants none, and trace names them", async (t) => {
  const at = lab(t, repository);
  const here = host(at, 2);
  const say = 'echo "[$CUDA_VISIBLE_DEVICES] $MLRB_GPUS ${NVIDIA_VISIBLE_DEVICES-unset}" > {outputs.text}';
  at.define({
    stages: {
      train: { command: say, gives: { text: "file" }, resources: { gpus: 2 } },
      count: { command: say, gives: { text: { file: "count" } } },
    },
  });
  const env = { ...here.env, NVIDIA_VISIBLE_DEVICES: "all" };
  const said = await at.start(["run", at.name, "--json", "--root", at.root], { env }).ended;
  assert.deepEqual(outcomes(said), { train: "succeeded", count: "succeeded" });
  const [first, second] = here.fake.uuids;
  const trace = async (stage: string) => {
    const traced = await at.pipeline(["trace", stage, "--pipeline", at.name, "--root", at.root], { env });
    assert.equal(traced.code, 0, traced.stderr);
    return traced.stdout;
  };
  const model = "Fake A100-SXM4-80GB";
  const trained = await trace("train");
  assert.ok(trained.includes(`gpus      ${model} (${first}), ${model} (${second})\n`), trained);
  assert.match(trained, /driver {4}550\.54\.15\n/);
  assert.doesNotMatch(await trace("count"), /gpus|driver/);
  const texts = Object.values(filesBelow(join(at.root, ".mlrb/cache/blobs")));
  assert.deepEqual(
    texts.filter((text) => text.startsWith("[")).sort(),
    [`[${first},${second}] 2 unset\n`, "[] 0 unset\n"].sort(),
  );
  const whereOf = (stage: string) => actionsIn(at.root).find(({ ran }) => ran.stage === stage)!.ran.where;
  assert.deepEqual(whereOf("train"), {
    gpus: `${model} (${first}), ${model} (${second})`,
    driver: "550.54.15",
  });
  assert.equal(whereOf("count"), undefined);
});

test("a fake GPU with another program's process on it keeps a stage waiting, and the process is named", async (t) => {
  const at = lab(t, repository);
  const here = host(at, 1);
  here.fake.compute({ uuid: here.fake.uuids[0]!, pid: 4711, name: "python" });
  at.define({ stages: { train: { command: "true", resources: { gpus: 1 } } } });
  const started = at.start(["run", at.name, "--root", at.root], { env: here.env });
  await until("it waits", () =>
    /process 4711 \(python\), which no run started, on GPU 0 holds a GPU that it wants/.test(
      started.stdout() + started.stderr(),
    ),
  );
  here.fake.compute();
  assert.equal((await started.ended).code, 0);
});

test("a result made without a GPU is not reused for a stage with a fake GPU, and one GPU gives the same key as two", async (t) => {
  const at = lab(t, repository);
  const here = host(at, 2);
  const profile = (gpus: number) => ({ stages: { train: { resources: { gpus } } } });
  at.define({
    profiles: { cpu: { default: true }, gpu: profile(1), both: profile(2) },
    stages: { train: { command: "echo $MLRB_GPUS > {outputs.text}", gives: { text: "file" } } },
  });
  const outcome = async (name: string) =>
    outcomes(await run(at, at.root, here, "--profile", name).ended).train;
  assert.equal(await outcome("cpu"), "succeeded");
  assert.equal(await outcome("gpu"), "succeeded");
  assert.equal(await outcome("both"), "reused");
  assert.equal(await outcome("cpu"), "reused");
});
