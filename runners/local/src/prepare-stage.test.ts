import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { totalmem } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Executor } from "@mlrb/core/executor";
import { environmentStage } from "@mlrb/core/plan";
import type { SandboxAsked, StageContext } from "@mlrb/kit/stage";
import { type Bound, bind } from "./bind.ts";
import { environmentPython } from "./environments.ts";
import type { GpuLease } from "./gpu-leases.ts";
import { largeBytes } from "./hash-files.ts";
import { LostInput, prepareStage, type Working } from "./prepare-stage.ts";
import type { Result } from "./result.ts";
import type { Artifact } from "./store.ts";
import { home, type SmallStage, smallPlan, withoutPython } from "./testing/small-plan.ts";

type Lab = ReturnType<typeof lab>;

function lab(t: TestContext) {
  const at = home(t);
  withoutPython(at);
  const workspace = at.open();
  const work = join(at.root, "work");
  for (const part of ["in", "out", "tmp"]) mkdirSync(join(work, part), { recursive: true });
  return {
    ...at,
    workspace,
    work,
    text: (text: string): Artifact => ({ kind: "file", digest: workspace.store.putText(text) }),
    folder(files: Record<string, string>): Artifact {
      for (const [path, text] of Object.entries(files)) at.write(join("given", path), text);
      const artifact = workspace.store.put(join(at.root, "given"), "dir");
      rmSync(join(at.root, "given"), { recursive: true });
      return artifact;
    },
  };
}

/** What the instances before the last one gave, by output. */
type Given = Record<string, Artifact>;
type More = {
  stages: SmallStage[];
  given?: Given;
  mounts?: boolean;
  change?: (bound: Bound) => void;
} & Partial<Pick<Working, "gpus" | "unsafeLocal">>;

/** Prepares the last of some stages, all before which have succeeded. */
async function prepared(at: Lab, { stages, given = {}, mounts, change, ...more }: More) {
  const { workspace, work } = at;
  const plan = smallPlan(...stages);
  const instance = plan.instances.at(-1)!;
  const results: Result[] = plan.instances.map(({ stage }) => ({
    outcome: { kind: "succeeded" },
    outputs: Object.fromEntries(
      stage.gives.flatMap(({ name }) => (given[name] ? [[name, given[name]]] : [])),
    ),
  }));
  const bound = await bind(instance, { plan, results, workspace });
  change?.(bound);
  const executor = (mounts === undefined ? {} : { mountsReadOnly: async () => mounts }) as Executor;
  const context = { workspace, work, executor, token: "mark:", unsafeLocal: false, ...more } as Working;
  const request = await prepareStage(instance, bound, context);
  const told = JSON.parse(readFileSync(join(work, "stage.json"), "utf8")) as StageContext & {
    sandbox?: SandboxAsked;
    sources: string[];
  };
  return { request, told, bound };
}

const data: SmallStage = { name: "data", gives: { public: "file" } };
const reads: SmallStage = { name: "score", needs: { words: "data.public" } };

test("an input lies where the stage and its command are told that it lies", async (t) => {
  const at = lab(t);
  const { request, told } = await prepared(at, { stages: [data, reads], given: { public: at.text("one") } });
  const path = join(at.work, "in/words");
  assert.equal(readFileSync(path, "utf8"), "one");
  assert.deepEqual(request.inputs, { words: path, "data.public": path });
  assert.deepEqual(told.inputs, { words: path });
});

test("what the stage before left among its inputs is not there, nor in a file of the same name", async (t) => {
  const at = lab(t);
  writeFileSync(join(at.work, "in/words"), "something longer of another stage");
  writeFileSync(join(at.work, "in/private"), "of another task");
  mkdirSync(join(at.work, "in/folder"));
  await prepared(at, { stages: [data, reads], given: { public: at.text("one") } });
  assert.deepEqual(readdirSync(join(at.work, "in")), ["words"]);
  assert.equal(readFileSync(join(at.work, "in/words"), "utf8"), "one");
});

test("an input that is a folder replaces what another stage left under its name", async (t) => {
  const at = lab(t);
  const stages = [{ ...data, gives: { public: "dir" as const } }, reads];
  const given = { public: at.folder({ "deep/new": "new" }) };
  for (const leave of [
    () => mkdirSync(join(at.work, "in/words")),
    () => writeFileSync(join(at.work, "in/words"), "file"),
  ]) {
    rmSync(join(at.work, "in/words"), { recursive: true, force: true });
    leave();
    await prepared(at, { stages, given });
    assert.deepEqual(readdirSync(join(at.work, "in/words"), { recursive: true }).sort(), [
      "deep",
      "deep/new",
    ]);
  }
});

for (const what of ["gone from", "damaged in"]) {
  test(`an input that is ${what} the store is said to be lost, so that its producer is asked again`, async (t) => {
    const at = lab(t);
    const given = { public: at.text("one") };
    const path = at.workspace.store.pathOf(given.public.digest);
    chmodSync(path, 0o644);
    if (what === "gone from") rmSync(path);
    else writeFileSync(path, "two");
    await assert.rejects(prepared(at, { stages: [data, reads], given }), LostInput);
    assert.equal(existsSync(path), false, "and it is not found again");
  });
}

test("other trouble with laying inputs out is not taken for a lost one", async (t) => {
  const at = lab(t);
  const given = { public: at.text("one") };
  const path = at.workspace.store.pathOf(given.public.digest);
  rmSync(path);
  mkdirSync(path);
  await assert.rejects(
    prepared(at, { stages: [data, reads], given }),
    (error) => !(error instanceof LostInput),
  );
});

test("a collecting stage finds its manifest and what its members gave; of what the digest will do it finds no copy", async (t) => {
  const at = lab(t);
  const stages: SmallStage[] = [
    { name: "score", gives: { scores: "file", samples: "file" } },
    { name: "report", collect: ["score.scores", "#score.samples"] },
  ];
  const given = { scores: at.text("0.5"), samples: at.text("many") };
  const { request, told, bound } = await prepared(at, { stages, given });
  const folder = join(at.work, "in/collected");
  assert.deepEqual(told.inputs, { manifest: join(folder, "manifest.json") });
  assert.equal(request.inputs.manifest, told.inputs.manifest);
  assert.deepEqual(JSON.parse(readFileSync(told.inputs.manifest!, "utf8")), bound.manifest);
  const { scores, samples } = bound.manifest!.members[0]!.artifacts;
  assert.equal(readFileSync(join(folder, scores!.path!), "utf8"), "0.5");
  assert.deepEqual(samples, { kind: "file", digest: given.samples.digest });
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  assert.deepEqual(files.map(({ name }) => name).sort(), ["manifest.json", "scores"]);
});

test("a folder that it gives is there and empty, and a file is not there yet", async (t) => {
  const at = lab(t);
  const { told, request } = await prepared(at, {
    stages: [{ name: "say", gives: { all: "dir", one: "file" } }],
  });
  assert.deepEqual(told.outputs, { all: join(at.work, "out/all"), one: join(at.work, "out/one") });
  assert.deepEqual(request.outputs, told.outputs);
  assert.deepEqual(readdirSync(join(at.work, "out"), { recursive: true }), ["all"]);
});

test("two outputs of one file name are given in two folders", async (t) => {
  const at = lab(t);
  const names = { train: "data.txt", test: "data.txt" };
  const stage: SmallStage = { name: "say", gives: { train: "file", test: "file" }, files: names };
  const { told } = await prepared(at, { stages: [stage] });
  assert.deepEqual(told.outputs, {
    train: join(at.work, "out/train/data.txt"),
    test: join(at.work, "out/test/data.txt"),
  });
  for (const path of Object.values(told.outputs)) writeFileSync(path, "it can be written");
});

/** A content that is worth more than a copy. */
function largeInput(at: Lab): Given {
  writeFileSync(join(at.root, "large"), Buffer.alloc(largeBytes));
  return { public: at.workspace.store.put(join(at.root, "large"), "file", { move: true }) };
}

test("a large input is linked where the executor holds it read-only, and that folder is named", async (t) => {
  const at = lab(t);
  const given = largeInput(at);
  const { request } = await prepared(at, { stages: [data, reads], given, mounts: true });
  assert.equal(request.readOnly, join(at.work, "in"));
  const { ino } = statSync(at.workspace.store.pathOf(given.public!.digest));
  assert.equal(statSync(request.inputs.words!).ino, ino);
});

test("a large input is copied for whoever could write into the store through a link", async (t) => {
  const at = lab(t);
  const given = largeInput(at);
  const cases: Record<string, [SmallStage, boolean | undefined]> = {
    "an executor that cannot hold it read-only": [reads, false],
    "an executor that says nothing of it": [reads, undefined],
    "a stage that nobody vouches for": [{ ...reads, untrusted: true }, true],
  };
  for (const [whom, [stage, mounts]] of Object.entries(cases)) {
    const { request } = await prepared(at, {
      stages: [data, stage],
      given,
      ...(mounts !== undefined && { mounts }),
    });
    assert.equal(request.readOnly, undefined, whom);
    assert.equal(statSync(request.inputs.words!).nlink, 1, whom);
    assert.equal(statSync(at.workspace.store.pathOf(given.public!.digest)).nlink, 1, whom);
  }
});

test("a stage is told its axes, parameters, budget and files, and no limit that it does not have", async (t) => {
  const at = lab(t);
  at.write("words.txt", "");
  const action = { params: { depth: 2 }, budget: { tokens: 5 }, files: ["*.txt"] };
  const stage = { name: "say", axes: { task: "baby-lm", seed: 1 }, action };
  const { told } = await prepared(at, { stages: [stage] });
  const { outputs: _, ...rest } = told;
  assert.deepEqual(rest, {
    formatVersion: 1,
    stage: "say[task=baby-lm,seed=1]",
    axes: { task: "baby-lm", seed: 1 },
    params: { depth: 2 },
    inputs: {},
    files: ["*.txt"],
    sources: ["words.txt"],
    budget: { tokens: 5 },
  });
});

test("how long an attempt may wait for its provider and for a person is told each where it is limited", async (t) => {
  const at = lab(t);
  const waits = async (limits: object) =>
    (await prepared(at, { stages: [{ name: "say", execution: { limits } }] })).told.waits;
  assert.deepEqual(await waits({ providerWaitMs: 5 }), { providerMs: 5 });
  assert.deepEqual(await waits({ operatorWaitMs: 6 }), { operatorMs: 6 });
  assert.deepEqual(await waits({ providerWaitMs: 0, operatorWaitMs: 0 }), { providerMs: 0, operatorMs: 0 });
});

test("an executor is told what the instance may take, what it holds, and by which mark its processes are known", async (t) => {
  const at = lab(t);
  const gpu = { index: 3, uuid: "GPU-3", model: "H200", memoryBytes: 1 };
  const execution: SmallStage["execution"] = {
    limits: { timeMs: 1000, memoryBytes: 2 ** 20 },
    network: "full",
    image: "host",
    executor: "docker",
    resources: { cpus: 3 },
  };
  const gpus = { gpus: [gpu] } as unknown as GpuLease;
  const { request, bound } = await prepared(at, { stages: [{ name: "say", execution }], gpus });
  const { id, key, token, root, work, limits, network, image, cpus, log } = request;
  assert.deepEqual(
    { id, key, token, root, work, limits, network, image, cpus, log },
    {
      id: "say",
      key: bound.key,
      token: "mark:",
      root: at.root,
      work: at.work,
      limits: { timeMs: 1000, memoryBytes: 2 ** 20 },
      network: "full",
      image: "host",
      cpus: 3,
      log: join(at.work, "log"),
    },
  );
  assert.deepEqual(request.gpus, [gpu]);
});

test("what is not said is not limited: neither time, memory nor network", async (t) => {
  const { request } = await prepared(lab(t), { stages: [{ name: "say" }] });
  assert.deepEqual([request.limits, request.gpus], [{}, []]);
  for (const one of ["network", "image", "permissions", "python", "readOnly", "preload", "recorder"])
    assert.equal(one in request, false, one);
});

const untrusted: SmallStage = { name: "attempt", untrusted: true };

test("a sandbox without limits of its own has some: no network, most of the memory, a count of processes, part of the disk", async (t) => {
  const { told } = await prepared(lab(t), { stages: [untrusted] });
  const { limits, network, unsafe } = told.sandbox!;
  assert.deepEqual([network, unsafe], ["none", false]);
  assert.deepEqual([limits.memoryBytes, limits.processes], [Math.floor(0.9 * totalmem()), 4096]);
  assert.ok(limits.diskBytes > 0 && limits.diskBytes <= 200 * 2 ** 30);
});

test("a sandbox is held to what its pipeline says; the memory that it takes of the machine is its limit where none is said", async (t) => {
  const at = lab(t);
  const resources = { memoryBytes: 2 ** 30, cpus: 2 };
  const sandbox = async (execution: SmallStage["execution"]) =>
    (await prepared(at, { stages: [{ ...untrusted, execution: { ...execution, resources } }] })).told
      .sandbox!;
  const limits = { memoryBytes: 2 ** 20, processes: 10, diskBytes: 2 ** 25 };
  const said = await sandbox({ limits, network: "full", image: "host" });
  assert.deepEqual(said.limits, { ...limits, cpus: 2 });
  assert.deepEqual([said.network, said.image], ["full", "host"]);
  assert.equal((await sandbox({})).limits.memoryBytes, 2 ** 30);
});

test("the limits of a sandbox are not those of whoever supervises it, but for the time", async (t) => {
  const execution: SmallStage["execution"] = { limits: { timeMs: 5, memoryBytes: 2 ** 20 }, network: "full" };
  const { request } = await prepared(lab(t), { stages: [{ ...untrusted, execution }] });
  assert.deepEqual(request.limits, { timeMs: 5 });
  assert.equal("network" in request, false);
});

test("that programs may run without walls is told to the sandbox only where the person who runs said so", async (t) => {
  const at = lab(t);
  assert.equal((await prepared(at, { stages: [untrusted], unsafeLocal: true })).told.sandbox?.unsafe, true);
  const trusted = await prepared(at, { stages: [{ name: "say" }], unsafeLocal: true });
  assert.equal(trusted.told.sandbox, undefined);
});

const builder: SmallStage = {
  name: environmentStage,
  gives: {},
  action: { params: { lock: "envs/ml.lock" } },
};

test("an environment is built in its place, from which what a killed build left is gone", async (t) => {
  const at = lab(t);
  at.write("envs/ml.lock", "");
  const leave = (bound: Bound) => {
    mkdirSync(bound.environment!.path, { recursive: true });
    writeFileSync(join(bound.environment!.path, "half"), "");
  };
  const { request, bound } = await prepared(at, { stages: [builder], change: leave });
  const { path } = bound.environment!;
  assert.equal(existsSync(path), false);
  assert.equal(request.outputs.environment, path);
  assert.deepEqual([request.reads, request.writes], [[], [dirname(path)]]);
});

const inside = (action: SmallStage["action"]): SmallStage[] => [
  builder,
  { name: "say", environment: true, ...(action && { action }) },
];

/** An environment of an interpreter that lies elsewhere. */
function built(at: Lab, { environment }: Bound): string {
  at.write("python/bin/python3", "");
  const python = environmentPython(environment!.path);
  mkdirSync(dirname(python), { recursive: true });
  symlinkSync(join(at.root, "python/bin/python3"), python);
  return python;
}

test("a stage reads its environment and the interpreter behind it, and writes neither", async (t) => {
  const at = lab(t);
  at.write("envs/ml.lock", "");
  const { request, bound } = await prepared(at, { stages: inside({}), change: (bound) => built(at, bound) });
  assert.deepEqual(request.reads, [bound.environment!.path, join(at.root, "python")]);
  assert.deepEqual(request.writes, []);
  assert.equal(request.python, environmentPython(bound.environment!.path));
  assert.equal(existsSync(request.python), true, "it is not cleared");
});

test("a stage whose environment is gone is prepared all the same: starting it says so", async (t) => {
  const at = lab(t);
  at.write("envs/ml.lock", "");
  const { request, bound } = await prepared(at, { stages: inside({}) });
  assert.deepEqual(request.reads, [bound.environment!.path]);
});

test("a Python stage is forked where its environment says from what, and its guard comes before all else that it imports", async (t) => {
  const at = lab(t);
  at.write("envs/ml.lock", "");
  at.write("envs/ml.preload.py", "");
  at.write("say.py", "");
  const { request } = await prepared(at, { stages: inside({ run: { kind: "python", file: "say.py" } }) });
  assert.equal(request.preload, join(at.root, "envs/ml.preload.py"));
  const { PYTHONPATH, MLRB_PERMISSIONS } = request.env;
  assert.deepEqual(JSON.parse(readFileSync(MLRB_PERMISSIONS!, "utf8")), request.permissions);
  assert.deepEqual(PYTHONPATH?.split(delimiter), [
    request.permissions!.guard,
    join(at.root, "runners/kit/python"),
  ]);
});

const script = { run: { kind: "script", file: "say.ts" } } as const;
const coded = (bound: Bound) => {
  bound.codeFiles = { "say.ts": "digest" };
};

/** The code of the script is what a test says. */
async function scripted(at: Lab, more: Partial<SmallStage>) {
  at.write("package.json", '{"type": "module"}');
  at.write("say.ts", "");
  const { permissions, recorder, env } = (
    await prepared(at, { stages: [{ name: "say", action: script, ...more }], change: coded })
  ).request;
  return { permissions, recorder, env };
}

test("a script is held to what it declares, and the harness of an attempt is watched and not held", async (t) => {
  const at = lab(t);
  const held = await scripted(at, {});
  assert.equal(held.env.MLRB_REFUSALS, held.permissions?.refusals);
  assert.equal(held.env.MLRB_RECORDER, undefined);
  assert.equal(held.recorder, undefined);
  for (const more of [{ durable: true }, { untrusted: true }]) {
    const watched = await scripted(at, more);
    assert.equal(watched.permissions, undefined);
    assert.equal(watched.env.MLRB_REFUSALS, undefined);
    assert.ok(existsSync(watched.recorder!));
    const { refusals } = JSON.parse(readFileSync(watched.env.MLRB_RECORDER!, "utf8")) as { refusals: string };
    assert.equal(dirname(refusals), at.work);
  }
});
