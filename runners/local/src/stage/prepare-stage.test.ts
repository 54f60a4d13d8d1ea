import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs, {
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
import { syncBuiltinESMExports } from "node:module";
import { totalmem } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { environmentStage } from "@mlrb/core/plan/plan";
import type { Executor } from "@mlrb/core/ports/executor";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import type { SandboxRequest, StageContext } from "@mlrb/formats/stage/stage-context";
import { type Bound, bind } from "../decide/bind-inputs.ts";
import { largeBytes } from "../digests/hash-files.ts";
import type { GpuLease } from "../leases/gpu-leases.ts";
import { environmentPython } from "../process/environments.ts";
import type { Result } from "../run/result.ts";
import { home, type SmallStage, smallPlan, withoutPython } from "../testing/small-plan.ts";
import { LostInput, prepareStage, type Working } from "./prepare-stage.ts";

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

/** Outputs of the instances before the last one, by output name. */
type Outputs = Record<string, Artifact>;
type More = {
  stages: SmallStage[];
  given?: Outputs;
  mounts?: boolean;
  change?: (bound: Bound) => void;
} & Partial<Pick<Working, "gpus" | "unsafeLocal" | "weakLimits">>;

/** Prepares the last stage; all earlier ones have succeeded. */
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
  const context = {
    workspace,
    work,
    executor,
    token: "mark:",
    unsafeLocal: false,
    mayRunWeakly: () => false,
    ...more,
  } as unknown as Working;
  const request = await prepareStage(instance, bound, context);
  const stageJson = JSON.parse(readFileSync(join(work, "stage.json"), "utf8")) as StageContext & {
    sandbox?: SandboxRequest;
    sources: string[];
  };
  return { request, stageJson, bound };
}

const data: SmallStage = { name: "data", gives: { public: "file" } };
const reads: SmallStage = { name: "score", needs: { words: "data.public" } };

test("an input is at the path that stage.json and the command name", async (t) => {
  const at = lab(t);
  const { request, stageJson } = await prepared(at, {
    stages: [data, reads],
    given: { public: at.text("one") },
  });
  const path = join(at.work, "in/words");
  assert.equal(readFileSync(path, "utf8"), "one");
  assert.deepEqual(request.inputs, { words: path, "data.public": path });
  assert.deepEqual(stageJson.inputs, { words: path });
});

test("inputs that an earlier stage left in the work folder are removed", async (t) => {
  const at = lab(t);
  writeFileSync(join(at.work, "in/words"), "something longer of another stage");
  writeFileSync(join(at.work, "in/private"), "of another task");
  mkdirSync(join(at.work, "in/folder"));
  await prepared(at, { stages: [data, reads], given: { public: at.text("one") } });
  assert.deepEqual(readdirSync(join(at.work, "in")), ["words"]);
  assert.equal(readFileSync(join(at.work, "in/words"), "utf8"), "one");
});

test("an input folder replaces what an earlier stage left under its name", async (t) => {
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
  test(`an input that is ${what} the store throws LostInput`, async (t) => {
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

test("an unreadable input is an error, not a LostInput", async (t) => {
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

test("a collecting stage gets its manifest and its members' outputs, except those wanted by digest only", async (t) => {
  const at = lab(t);
  const stages: SmallStage[] = [
    { name: "score", gives: { scores: "file", samples: "file" } },
    { name: "report", collect: ["score.scores", "#score.samples"] },
  ];
  const given = { scores: at.text("0.5"), samples: at.text("many") };
  const { request, stageJson, bound } = await prepared(at, { stages, given });
  const folder = join(at.work, "in/collected");
  assert.deepEqual(stageJson.inputs, { manifest: join(folder, "manifest.json") });
  assert.equal(request.inputs.manifest, stageJson.inputs.manifest);
  assert.deepEqual(JSON.parse(readFileSync(stageJson.inputs.manifest!, "utf8")), bound.manifest);
  const { scores, samples } = bound.manifest!.members[0]!.artifacts;
  assert.equal(readFileSync(join(folder, scores!.path!), "utf8"), "0.5");
  assert.deepEqual(samples, { kind: "file", digest: given.samples.digest });
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  assert.deepEqual(files.map(({ name }) => name).sort(), ["0000-scores", "manifest.json"]);
});

test("output folders exist before the stage starts, and output files do not", async (t) => {
  const at = lab(t);
  const { stageJson, request } = await prepared(at, {
    stages: [{ name: "say", gives: { all: "dir", one: "file" } }],
  });
  assert.deepEqual(stageJson.outputs, { all: join(at.work, "out/all"), one: join(at.work, "out/one") });
  assert.deepEqual(request.outputs, stageJson.outputs);
  assert.deepEqual(readdirSync(join(at.work, "out"), { recursive: true }), ["all"]);
});

test("two outputs of one file name get separate folders", async (t) => {
  const at = lab(t);
  const names = { train: "data.txt", test: "data.txt" };
  const stage: SmallStage = { name: "say", gives: { train: "file", test: "file" }, files: names };
  const { stageJson } = await prepared(at, { stages: [stage] });
  assert.deepEqual(stageJson.outputs, {
    train: join(at.work, "out/train/data.txt"),
    test: join(at.work, "out/test/data.txt"),
  });
  for (const path of Object.values(stageJson.outputs)) writeFileSync(path, "it can be written");
});

/** An input large enough to be hard-linked. */
function largeInput(at: Lab): Outputs {
  writeFileSync(join(at.root, "large"), Buffer.alloc(largeBytes));
  return { public: at.workspace.store.put(join(at.root, "large"), "file", { move: true }) };
}

test("a large input is hard-linked when the executor can mount inputs read-only", async (t) => {
  const at = lab(t);
  const given = largeInput(at);
  const { request } = await prepared(at, { stages: [data, reads], given, mounts: true });
  assert.equal(request.readOnly, join(at.work, "in"));
  const { ino } = statSync(at.workspace.store.pathOf(given.public!.digest));
  assert.equal(statSync(request.inputs.words!).ino, ino);
});

test("a large input is copied for a stage that could write through a hard link", async (t) => {
  const at = lab(t);
  const given = largeInput(at);
  const cases: Record<string, [SmallStage, boolean | undefined]> = {
    "an executor that cannot hold it read-only": [reads, false],
    "an executor that says nothing of it": [reads, undefined],
    "an untrusted stage": [{ ...reads, untrusted: true }, true],
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

test("stage.json holds the axes, parameters, budget and files", async (t) => {
  const at = lab(t);
  at.write("words.txt", "");
  const action = { params: { depth: 2 }, budget: { tokens: 5 }, files: ["*.txt"] };
  const stage = { name: "say", axes: { task: "baby-lm", seed: 1 }, action };
  const { stageJson } = await prepared(at, { stages: [stage] });
  const { outputs: _, ...rest } = stageJson;
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

test("stage.json holds each wait limit that is set", async (t) => {
  const at = lab(t);
  const waits = async (limits: object) =>
    (await prepared(at, { stages: [{ name: "say", execution: { limits } }] })).stageJson.waits;
  assert.deepEqual(await waits({ providerWaitMs: 5 }), { providerMs: 5 });
  assert.deepEqual(await waits({ operatorWaitMs: 6 }), { operatorMs: 6 });
  assert.deepEqual(await waits({ providerWaitMs: 0, operatorWaitMs: 0 }), { providerMs: 0, operatorMs: 0 });
});

test("stage.json holds the limits of a stage that opens a submission, by default those of its walls", async (t) => {
  const at = lab(t);
  const limits = async (one: object) =>
    (await prepared(at, { stages: [{ name: "say", ...one }] })).stageJson.limits;
  const opens = "untrusted" as const;
  const given = { timeMs: 1000, memoryBytes: 2 ** 30 };
  assert.deepEqual(await limits({ opens, execution: { limits: given } }), given);
  assert.deepEqual(await limits({ opens }), { memoryBytes: 2 ** 31 });
  assert.equal(await limits({ execution: { limits: given } }), undefined);
});

const gpu = { index: 3, uuid: "GPU-3", model: "H200", memoryBytes: 1, driver: "", slice: false };

test("the request holds limits, network, image, CPUs, GPUs and token", async (t) => {
  const at = lab(t);
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

test("without settings the request holds no limits", async (t) => {
  const { request } = await prepared(lab(t), { stages: [{ name: "say" }] });
  assert.deepEqual([request.limits, request.gpus], [{}, []]);
  for (const one of ["network", "image", "permissions", "python", "readOnly", "preload", "recorder"])
    assert.equal(one in request, false, one);
});

const builder: SmallStage = {
  name: environmentStage,
  gives: {},
  action: { params: { lock: "envs/ml.lock" } },
};

/** Builds an environment whose interpreter is in another folder. */
function built(at: Lab, { environment }: Bound): string {
  at.write("python/bin/python3", "");
  const python = environmentPython(environment!.path);
  mkdirSync(dirname(python), { recursive: true });
  symlinkSync(join(at.root, "python/bin/python3"), python);
  return python;
}

const untrusted: SmallStage = { name: "attempt", untrusted: true };

test("a sandbox without settings has no network and default limits", async (t) => {
  const { stageJson } = await prepared(lab(t), { stages: [untrusted] });
  const { limits, network, unsafe } = stageJson.sandbox!;
  assert.deepEqual([network, unsafe], ["none", false]);
  assert.deepEqual([limits.memoryBytes, limits.processes], [Math.floor(0.9 * totalmem()), 4096]);
  assert.ok(limits.diskBytes > 0 && limits.diskBytes <= 200 * 2 ** 30);
});

test("a sandbox may write 200 GiB, or four fifths of a disk with less room", async (t) => {
  const at = lab(t);
  const allowed = async (bytes: number) => {
    t.mock.method(fs, "statfsSync", () => ({ bavail: bytes / 1024, bsize: 1024 }));
    syncBuiltinESMExports();
    return (await prepared(at, { stages: [untrusted] })).stageJson.sandbox!.limits.diskBytes;
  };
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  assert.equal(await allowed(10 * 1024), 8 * 1024);
  assert.equal(await allowed(2 ** 50), 200 * 2 ** 30);
});

test("a sandbox gets the folders it may read, its GPUs and the token of its processes", async (t) => {
  const at = lab(t);
  at.write("envs/ml.lock", "");
  const gpus = { gpus: [gpu] } as unknown as GpuLease;
  const { stageJson, request } = await prepared(at, {
    stages: [builder, { ...untrusted, environment: true }],
    gpus,
    change: (bound) => built(at, bound),
  });
  const { reads, environment, gpus: held, token } = stageJson.sandbox!;
  assert.equal(reads.length, 2);
  assert.deepEqual(environment, request.environment);
  assert.deepEqual({ reads, held, token }, { reads: request.reads, held: [gpu], token: "mark:" });
});

test("a sandbox has the limits of its pipeline, and its memory resource where no memory limit is set", async (t) => {
  const at = lab(t);
  const resources = { memoryBytes: 2 ** 30, cpus: 2 };
  const sandbox = async (execution: SmallStage["execution"]) =>
    (await prepared(at, { stages: [{ ...untrusted, execution: { ...execution, resources } }] })).stageJson
      .sandbox!;
  const limits = { memoryBytes: 2 ** 20, processes: 10, diskBytes: 2 ** 25 };
  const said = await sandbox({ limits, network: "full", image: "host" });
  assert.deepEqual(said.limits, { ...limits, cpus: 2 });
  assert.deepEqual([said.network, said.image], ["full", "host"]);
  assert.equal((await sandbox({})).limits.memoryBytes, 2 ** 30);
});

test("only the time limit of a sandbox holds for its supervisor too", async (t) => {
  const execution: SmallStage["execution"] = { limits: { timeMs: 5, memoryBytes: 2 ** 20 }, network: "full" };
  const { request } = await prepared(lab(t), { stages: [{ ...untrusted, execution }] });
  assert.deepEqual(request.limits, { timeMs: 5 });
  assert.equal("network" in request, false);
});

test("only --unsafe-local lets a sandbox run without isolation", async (t) => {
  const at = lab(t);
  assert.equal(
    (await prepared(at, { stages: [untrusted], unsafeLocal: true })).stageJson.sandbox?.unsafe,
    true,
  );
  const trusted = await prepared(at, { stages: [{ name: "say" }], unsafeLocal: true });
  assert.equal(trusted.stageJson.sandbox, undefined);
});

test("only --weak-limits lets a sandbox run whose memory limit is only polled", async (t) => {
  const at = lab(t);
  const weak = async (more: { weakLimits?: boolean }) =>
    (await prepared(at, { stages: [untrusted], ...more })).stageJson.sandbox?.weakLimits;
  assert.deepEqual([await weak({}), await weak({ weakLimits: true })], [undefined, true]);
});

test("leftovers of a killed environment build are removed before the next build", async (t) => {
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

test("a stage may read its environment and the interpreter behind it, and write neither", async (t) => {
  const at = lab(t);
  at.write("envs/ml.lock", "");
  const { request, bound } = await prepared(at, { stages: inside({}), change: (bound) => built(at, bound) });
  const interpreter = join(at.root, "python");
  assert.deepEqual(request.reads, [bound.environment!.path, interpreter]);
  const lock = createHash("sha256").update("").digest("hex");
  assert.deepEqual(request.environment, { path: bound.environment!.path, interpreter, lock });
  assert.deepEqual(request.writes, []);
  assert.equal(request.python, environmentPython(bound.environment!.path));
  assert.equal(existsSync(request.python), true, "it is not cleared");
});

test("an interpreter of the system adds no folder that a stage may read", async (t) => {
  const at = lab(t);
  at.write("envs/ml.lock", "");
  const link = ({ environment }: Bound) => {
    const python = environmentPython(environment!.path);
    mkdirSync(dirname(python), { recursive: true });
    symlinkSync("/usr/bin/env", python);
  };
  const { request, bound } = await prepared(at, { stages: inside({}), change: link });
  assert.deepEqual(request.reads, [bound.environment!.path]);
});

test("a missing environment does not stop the preparation of a stage", async (t) => {
  const at = lab(t);
  at.write("envs/ml.lock", "");
  const { request, bound } = await prepared(at, { stages: inside({}) });
  assert.deepEqual(request.reads, [bound.environment!.path]);
});

test("a Python stage gets its preload file; PYTHONPATH is its guard, the kit and the declared folders", async (t) => {
  const at = lab(t);
  at.write("pipelines/environments/python-path.txt", "some/library\n");
  at.workspace = at.open();
  at.write("envs/ml.lock", "");
  at.write("envs/ml.preload.py", "");
  at.write("say.py", "import torch\n");
  const { request } = await prepared(at, { stages: inside({ run: { kind: "python", file: "say.py" } }) });
  assert.equal(request.preload, join(at.root, "envs/ml.preload.py"));
  const { PYTHONPATH, MLRB_PERMISSIONS } = request.env;
  assert.deepEqual(JSON.parse(readFileSync(MLRB_PERMISSIONS!, "utf8")), request.permissions);
  assert.deepEqual(PYTHONPATH?.split(delimiter), [
    request.permissions!.guard,
    join(at.root, "runners/kit/python"),
    join(at.root, "some/library"),
  ]);
  for (const folder of ["runners/kit/python", "some/library"])
    assert.ok(request.permissions!.lists.includes(join(at.root, folder)), folder);
});

const script = { run: { kind: "script", file: "say.ts" } } as const;
const coded = (bound: Bound) => {
  bound.codeFiles = { "say.ts": "digest" };
};

/** Prepares a stage of a script, without bundling it. */
async function scripted(at: Lab, more: Partial<SmallStage>) {
  at.write("package.json", '{"type": "module"}');
  at.write("say.ts", "");
  const { permissions, recorder, env } = (
    await prepared(at, { stages: [{ name: "say", action: script, ...more }], change: coded })
  ).request;
  return { permissions, recorder, env };
}

test("a script runs with permissions; the script of an attempt is only recorded", async (t) => {
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
