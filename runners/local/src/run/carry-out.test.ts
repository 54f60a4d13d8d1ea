import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { ExecutionRequest, Executor, Place, Running } from "@mlrb/core/ports/executor";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { type Bound, bind } from "../decide/bind-inputs.ts";
import { environmentPath } from "../process/environments.ts";
import { WorkSlots } from "../stage/work-slots.ts";
import { openWorkspace } from "../store/workspace.ts";
import type { CarryOutContext } from "./carried-out.ts";
import { carryOut } from "./carry-out.ts";
import type { Result } from "./result.ts";

const pipeline = {
  formatVersion: 1,
  name: "test",
  stages: {
    data: { command: ["make"], files: ["data.txt"], gives: { rows: "file" } },
    score: { command: ["score"], needs: ["data.rows"], gives: { score: { file: "score.json" } } },
    gpu: { command: ["train"], resources: { gpus: 1 }, gives: { model: "file" } },
    foreign: { command: ["agent"], untrusted: true, gives: { submission: "file" } },
    lean: { python: "lean.py", environment: "lean.lock", gives: { proof: "file" } },
  },
};

const files: Record<string, string> = {
  "pipelines/test.yaml": JSON.stringify(pipeline),
  "data.txt": "one\n",
  "lean.py": "",
  "lean.lock": "",
  "pipelines/steps/environment.ts": "",
};

/** The program of a stage, with its result. */
type Act = (request: ExecutionRequest) => ExecutionResult | Promise<ExecutionResult>;

const succeeded: ExecutionResult = { kind: "succeeded" };

/** Writes a text as each output. */
const writes =
  (text: string): Act =>
  ({ outputs }) => {
    for (const path of Object.values(outputs)) writeFileSync(path, text);
    return succeeded;
  };

/** A repository with that pipeline, a store, and an executor whose program the test sets. */
function scene(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "mlrb-carry-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const plan = planOf();
  const workspace = openWorkspace({ repository: root, root, pipeline: "test", profile: plan.profile });
  mkdirSync(join(root, "slots"));
  const slots = new WorkSlots(join(root, "slots"));
  const results: (Result | undefined)[] = plan.instances.map(() => undefined);
  const instance = (name: string): Instance => plan.instances.find(({ stage }) => stage.name === name)!;

  return {
    root,
    workspace,
    slots,
    instance,
    results,
    edit: (text: string) => writeFileSync(join(root, "data.txt"), text),
    bound: (name: string) => bind(instance(name), { plan, workspace, results }),
    async carry(name: string, act: Act, more: Partial<CarryOutContext> & { bound?: Bound } = {}) {
      const requests: ExecutionRequest[] = [];
      const events: string[] = [];
      const handles: Running[] = [];
      const bound = more.bound ?? (await bind(instance(name), { plan, workspace, results }));
      const executor = fakeExecutor((request) => {
        requests.push(request);
        return act(request);
      });
      const log = join(root, `${name}.log`);
      const context = {
        ...{ workspace, run: "run-1", token: "token", unsafeLocal: false, slots, log },
        mayRunWeakly: () => false,
        ...{ clearSandbox: undefined, purse: undefined, slot: { pipeline: "test", profile: "default" } },
        protocol: () => undefined,
        ...{ origins: [], isHeld: () => true, goesOn: false, left() {}, undeclared() {} },
        adopted: (since: string | undefined) => events.push(`adopted ${since}`),
        started: (running: Running) => {
          handles.push(running);
          events.push("started");
        },
        continued() {},
        submitted: () => events.push("submitted"),
        placed: ({ node }: Place, queuedMs: number | undefined) =>
          events.push(`placed on ${node}, ${queuedMs === undefined ? "queued elsewhere" : "queued here"}`),
        freed: () => events.push("freed"),
        ...more,
        executor: { ...executor, ...more.executor },
      };
      const end = await carryOut(instance(name), bound, context);
      return { end, bound, requests, events, handles, log, entry: workspace.actions.get(bound.key) };
    },
  };
}

function planOf(): Plan {
  const sources = {
    read: (path: string) => files[path],
    list: () => [],
    kind: (path: string) => (path in files ? ("file" as const) : undefined),
  };
  const result = loadPlan({ file: "pipelines/test.yaml" }, sources, ["local"]);
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  return result.plan;
}

function fakeExecutor(act: Act): Executor {
  return {
    name: "local",
    start(request) {
      writeFileSync(request.log, "", { flag: "a" });
      return running(Promise.resolve(act(request)));
    },
  };
}

function running(ended: Promise<ExecutionResult>): Running {
  return { ended, askToEnd() {}, kill() {} };
}

test("the output of a stage is in the store, under its action key, with the place where the stage ran", async (t) => {
  const { carry, workspace } = scene(t);
  const { end, entry, bound } = await carry("data", writes("rows"));
  assert.ok(end.kind === "succeeded");
  assert.equal(workspace.store.textOf(end.outputs.rows!.digest), "rows");
  assert.deepEqual(entry?.outputs, end.outputs);
  assert.deepEqual(entry?.parts, bound.parts);
  assert.deepEqual([entry?.ran.run, entry?.ran.executor, entry?.ran.stage], ["run-1", "local", "data"]);
});

test("a stage finds its inputs in its work folder", async (t) => {
  const { carry, results, instance } = scene(t);
  const data = await carry("data", writes("rows"));
  assert.ok(data.end.kind === "succeeded");
  results[instance("data").index] = { outcome: { kind: "succeeded" } as never, outputs: data.end.outputs };
  let read: string | undefined;
  await carry("score", (request) => {
    read = readFileSync(request.inputs.rows!, "utf8");
    return writes("1")(request);
  });
  assert.equal(read, "rows");
});

test("a failed stage ends as its executor reported, and is not recorded", async (t) => {
  const { carry } = scene(t);
  const failed: ExecutionResult = { kind: "failed", cause: "exit-code", detail: "exit status 1" };
  const { end, entry, events } = await carry("data", (request) => {
    writes("half")(request);
    return failed;
  });
  assert.deepEqual(end, failed);
  assert.equal(entry, undefined);
  assert.deepEqual(events, ["started"], "what it holds is not free before its lease is released");
});

test("a stage that exits with 0 but lacks its output has failed", async (t) => {
  const { carry } = scene(t);
  const { end, entry } = await carry("data", () => succeeded);
  assert.ok(end.kind === "failed" && end.cause === "missing-output");
  assert.match(end.detail, /did not write its output "rows"/);
  assert.equal(entry, undefined);
});

test("the resources of a stage are freed after success, before its outputs are read", async (t) => {
  const { carry } = scene(t);
  const { events } = await carry("data", writes("rows"));
  assert.deepEqual(events, ["started", "freed", "started"]);
});

test("a result is not kept when a declared file changed while the stage ran", async (t) => {
  const { carry, edit } = scene(t);
  const { end, entry } = await carry("data", (request) => {
    edit("two\n");
    return writes("rows")(request);
  });
  assert.deepEqual(end, {
    kind: "failed",
    cause: "code-changed",
    detail: "data.txt changed while it ran; run again",
  });
  assert.equal(entry, undefined);
});

test("a result is not kept when an edit was made and undone while the stage ran", async (t) => {
  const { carry, edit } = scene(t);
  const { end, entry, events } = await carry("data", (request) => {
    edit("two\n");
    edit("one\n");
    return writes("rows")(request);
  });
  assert.ok(end.kind === "failed" && end.cause === "code-changed");
  assert.equal(end.unchanged, "data.txt");
  assert.equal(entry, undefined);
  assert.deepEqual(events, ["started"], "another try would need its resources");
});

for (const [name, path] of [
  ["data", "data.txt"],
  ["lean", "lean.py"],
] as const) {
  test(`the result of a stage is kept when ${path} got a hard link, another mode or another time while it ran`, async (t) => {
    const { carry, root } = scene(t);
    const { end, entry } = await carry(name, (request) => {
      linkSync(join(root, path), join(root, "linked"));
      chmodSync(join(root, path), 0o600);
      utimesSync(join(root, path), 1, 1);
      return writes("rows")(request);
    });
    assert.equal(end.kind, "succeeded");
    assert.ok(entry);
  });

  test(`a result is not kept when ${path} was edited through a hard link, and its content and time were put back`, async (t) => {
    const { carry, root } = scene(t);
    linkSync(join(root, path), join(root, "linked"));
    const { end } = await carry(name, (request) => {
      const { atime, mtime } = statSync(join(root, path));
      const text = readFileSync(join(root, path));
      writeFileSync(join(root, "linked"), "x = 2");
      writeFileSync(join(root, "linked"), text);
      utimesSync(join(root, path), atime, mtime);
      return writes("rows")(request);
    });
    assert.ok(end.kind === "failed" && end.cause === "code-changed");
    assert.equal(end.unchanged, path);
  });
}

test("a result is not kept when a declared file changed between the computation of the key and the start", async (t) => {
  const { carry, edit, bound } = scene(t);
  const before = await bound("data");
  edit("two\n");
  const { end } = await carry("data", writes("rows"), { bound: before });
  assert.ok(end.kind === "failed" && end.cause === "code-changed");
});

test("an input that is missing from the store is reported as lost, and the stage is not started", async (t) => {
  const { carry, results, instance, workspace } = scene(t);
  const data = await carry("data", writes("rows"));
  assert.ok(data.end.kind === "succeeded");
  results[instance("data").index] = { outcome: { kind: "succeeded" } as never, outputs: data.end.outputs };
  rmSync(workspace.store.pathOf(data.end.outputs.rows!.digest));
  const { end, requests } = await carry("score", writes("1"));
  assert.equal(end.kind, "lost");
  assert.deepEqual(requests, []);
});

test("a full disk is the machine's failure, not the stage's", async (t) => {
  const { carry } = scene(t);
  const { end } = await carry("data", () => {
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC", syscall: "write" });
  });
  assert.ok(end.kind === "failed" && end.cause === "machine");
});

test("a bug in an executor is rethrown", async (t) => {
  const { carry } = scene(t);
  const bug = () => {
    throw new TypeError("x is undefined");
  };
  await assert.rejects(carry("data", bug), TypeError);
});

test("a work folder is reused by the next stage, whatever the result of its stage", async (t) => {
  const { carry } = scene(t);
  const ends: Act[] = [
    writes("rows"),
    () => ({ kind: "cancelled" }),
    () => {
      throw Object.assign(new Error("EIO"), { code: "EIO", syscall: "read" });
    },
  ];
  const used: string[] = [];
  for (const act of ends) {
    const { requests } = await carry("data", act);
    used.push(requests[0]!.work);
  }
  assert.equal(new Set(used).size, 1);
});

test("foreign code works in a folder of its own, which is removed", async (t) => {
  const { carry } = scene(t);
  const data = await carry("data", writes("rows"));
  const foreign = await carry("foreign", writes("weights"));
  assert.equal(foreign.end.kind, "succeeded");
  assert.notEqual(foreign.requests[0]!.work, data.requests[0]!.work);
  assert.ok(!existsSync(foreign.requests[0]!.work));
});

test("the output that a stage printed is readable after the stage failed", async (t) => {
  const { carry } = scene(t);
  const { log } = await carry("data", (request) => {
    writeFileSync(request.log, "no such column\n");
    return { kind: "failed", cause: "exit-code", detail: "exit status 1" };
  });
  assert.equal(readFileSync(log, "utf8"), "no such column\n");
});

test("a second try appends to the log of the first, and says how the first ended", async (t) => {
  const { carry, root } = scene(t);
  writeFileSync(join(root, "data.log"), "first\n");
  const { log } = await carry("data", writes("rows"), { before: "the machine failed" });
  assert.equal(readFileSync(log, "utf8"), "first\nmlrb: the machine failed\n");
});

test("a stage that continued after a refusal has failed", async (t) => {
  const { carry, root } = scene(t);
  const { end, entry } = await carry("data", (request) => {
    const refused = { kind: "write", resource: join(root, "lean.py") };
    writeFileSync(join(request.work, "refusals.jsonl"), `${JSON.stringify(refused)}\n`);
    writeFileSync(request.log, "");
    return writes("rows")(request);
  });
  assert.ok(end.kind === "failed");
  assert.match(end.detail, /lean\.py/);
  assert.equal(entry, undefined);
});

test("a signal during the reading of outputs cancels the stage, and nothing is recorded", async (t) => {
  const { carry } = scene(t);
  let started = 0;
  const { end, entry } = await carry("data", writes("rows"), {
    started(handle) {
      if (++started === 2) handle.kill();
    },
  });
  assert.deepEqual(end, { kind: "cancelled" });
  assert.equal(entry, undefined);
});

/** The leftovers of a dead run: its work folder and a handle on the process that still runs there. */
function left(root: string, name: string, ended: Promise<ExecutionResult> = Promise.resolve(succeeded)) {
  const work = join(root, "left");
  mkdirSync(join(work, "out"), { recursive: true });
  writeFileSync(join(work, "out", name), "of the dead run");
  let killed = 0;
  const adopted = { work, running: { ...running(ended), kill: () => killed++ } };
  return { work, adopt: async () => adopted, killed: () => killed };
}

test("a process that a dead run left running is awaited and not started again", async (t) => {
  const { carry, workspace, root, slots } = scene(t);
  const { work, adopt, killed } = left(root, "rows");
  const { end, requests, events } = await carry("data", writes("made again"), {
    executor: { adopt } as unknown as Executor,
  });
  assert.ok(end.kind === "succeeded");
  assert.equal(workspace.store.textOf(end.outputs.rows!.digest), "of the dead run");
  assert.deepEqual(requests, []);
  assert.deepEqual([events[0], killed()], ["adopted undefined", 0]);
  assert.notEqual(slots.take({ fresh: false }), work, "the dead run's folder is not this run's to use again");
});

test("the key tells the executor which process may be adopted", async (t) => {
  const { carry } = scene(t);
  const asked: string[] = [];
  const adopt = async (key: string) => {
    asked.push(key);
    return undefined;
  };
  const { bound, requests } = await carry("data", writes("rows"), {
    executor: { adopt } as unknown as Executor,
  });
  assert.deepEqual(asked, [bound.key]);
  assert.equal(requests.length, 1);
});

test("the result of an adopted stage is not kept when a declared file no longer matches the key", async (t) => {
  const { carry, root, edit, bound } = scene(t);
  const before = await bound("data");
  edit("two\n");
  const { adopt } = left(root, "rows");
  const { end } = await carry("data", writes("made again"), {
    bound: before,
    executor: { adopt } as unknown as Executor,
  });
  assert.deepEqual(end, {
    kind: "failed",
    cause: "code-changed",
    detail: "data.txt changed while it ran; run again",
  });
});

test("a process that a dead run left on a GPU is ended and then restarted, since its GPU lease died with the run", async (t) => {
  const { carry, root, workspace } = scene(t);
  const { adopt, killed } = left(root, "model");
  const { end, requests, events } = await carry("gpu", writes("made again"), {
    executor: { adopt } as unknown as Executor,
  });
  assert.equal(killed(), 1);
  assert.equal(requests.length, 1);
  assert.ok(end.kind === "succeeded");
  assert.equal(workspace.store.textOf(end.outputs.model!.digest), "made again");
  assert.deepEqual(events, ["started", "freed", "started"]);
});

test("an unfinished environment is removed when its build is cancelled", async (t) => {
  const { carry, workspace, bound } = scene(t);
  const { key } = (await bound("environment")).environment!;
  const path = environmentPath(workspace.state, key);
  const { end } = await carry("environment", ({ outputs }) => {
    mkdirSync(outputs.environment!, { recursive: true });
    return { kind: "cancelled" };
  });
  assert.deepEqual(end, { kind: "cancelled" });
  assert.ok(!existsSync(path));
});

test("the time in a scheduler's queue is not part of a stage's duration, and is in its provenance", async (t) => {
  const { carry } = scene(t);
  const queued = Promise.withResolvers<Place>();
  const { entry, events } = await carry("data", writes("rows"), {
    executor: {
      start(request: ExecutionRequest) {
        const ended = sleep(1_200).then(() => {
          queued.resolve({ node: "n1", job: "7" });
          return writes("rows")(request);
        });
        writeFileSync(request.log, "");
        return { ...running(ended), began: queued.promise };
      },
    } as unknown as Executor,
  });
  assert.deepEqual(events, ["started", "submitted", "placed on n1, queued here", "freed", "started"]);
  assert.equal(entry?.ran.where?.queued, "1.2 s");
  assert.ok(entry.ran.durationMs < 1_000, `${entry.ran.durationMs} ms`);
});

test("no file of a finished stage stays in the work folders", async (t) => {
  const { carry } = scene(t);
  const { requests } = await carry("data", writes("rows"));
  assert.deepEqual(readdirSync(join(requests[0]!.work, "out")), []);
});
