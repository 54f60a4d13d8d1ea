import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs, {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import timers, { setImmediate as turn } from "node:timers/promises";
import type { Reason } from "@mlrb/core/key/reasons";
import type { ExecutionRequest, Executor, Running } from "@mlrb/core/ports/executor";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import type { Owner } from "@mlrb/formats/stage/process-owner";
import { exampleEvent } from "@mlrb/formats/testing/example-event";
import { processName } from "@mlrb/kit/processes/process-name";
import { fakeGpus, fakeNvidia } from "../../../../tests/support/machines/fake-nvidia.ts";
import { attemptFolders, makeAttemptFolder } from "../attempts/attempt-folders.ts";
import { type Bound, bind } from "../decide/bind-inputs.ts";
import { Journal } from "../journal/journal.ts";
import { gpuInventory } from "../leases/gpu-inventory.ts";
import { leaseGpus } from "../leases/gpu-leases.ts";
import { tryLease } from "../leases/lease.ts";
import { thisProcess } from "../leases/owner.ts";
import type { RemoteCache } from "../remote/remote-cache.ts";
import { beginWork, endWork } from "../stage/work-folders.ts";
import { WorkSlots } from "../stage/work-slots.ts";
import { exampleCard } from "../testing/example-record.ts";
import { home, type SmallStage, smallPlan } from "../testing/small-plan.ts";
import { type Executed, type ExecuteOptions, executeInstance, type RunContext } from "./execute-instance.ts";
import type { Result } from "./result.ts";
import type { RunEvent } from "./run-request.ts";

type Lab = Awaited<ReturnType<typeof lab>>;

/** Makes every sleep end at once, and lists the requested pauses. */
function fakeSleep(t: TestContext): number[] {
  const slept: number[] = [];
  const { setTimeout: really } = timers;
  t.mock.method(
    timers,
    "setTimeout",
    async (ms: number, value?: unknown, options?: { signal?: AbortSignal }) => {
      if (options?.signal) return await really(ms, value, options); // execa's time limit of a program
      if (slept.push(ms) > 1000) throw new Error("bug: it waits for ever");
      await turn();
    },
  );
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return slept;
}

type StartedTry = { request: ExecutionRequest; calls: string[]; end(result: ExecutionResult): void };

/** A run that may execute one stage; `tries` sets the result of each try. */
async function lab(
  t: TestContext,
  stage: SmallStage,
  tries: Try[] = [],
  data?: SmallStage,
  { retries }: Pick<Executor, "retries"> = {},
) {
  const slept = fakeSleep(t);
  const at = home(t);
  const workspace = at.open();
  const { state } = workspace;
  const plan = smallPlan(...(data ? [data] : []), stage);
  const instance = plan.instances.at(-1);
  const words: Artifact = { kind: "file", digest: workspace.store.putText("words") };
  const results: Result[] = [{ outcome: { kind: "succeeded" }, outputs: { words } }];
  const bound = await bind(instance!, { plan, results, workspace });
  const run = `run-${processName}`;
  const folder = beginWork(state.work, run);
  const journal = new Journal(state.journals, run);
  t.after(() => {
    journal.close();
    endWork(folder);
  });
  const started: StartedTry[] = [];
  const executor: Executor = {
    name: "fake",
    ...(retries !== undefined && { retries }),
    start(request) {
      appendFileSync(request.log, "");
      const { promise, resolve } = Promise.withResolvers<ExecutionResult>();
      const calls: string[] = [];
      const one = { request, calls, end: resolve };
      const act = tries[started.push(one) - 1] ?? succeed;
      const running: Running = {
        ended: promise,
        askToEnd: () => {
          calls.push("askToEnd");
          resolve({ kind: "cancelled" });
        },
        kill: () => {
          calls.push("kill");
          resolve({ kind: "cancelled" });
        },
      };
      act(one);
      return running;
    },
  };
  const events: RunEvent[] = [];
  const asked: string[] = [];
  const handles: string[] = [];
  const log = join(state.logs, "stage.log");
  const context: RunContext & ExecuteOptions = {
    run,
    plan,
    workspace,
    journal,
    folder,
    slots: new WorkSlots(folder.path),
    executorOf: async (name) => {
      asked.push(name);
      return executor;
    },
    takeOver: false,
    unsafeLocal: false,
    mayRunWeakly: () => false,
    clearSandbox: undefined,
    purse: undefined,
    silentMs: undefined,
    going: new Set(),
    interrupts: () => 0,
    addressOf: () => undefined,
    onEvent: (event) => events.push(event),
    reasons: [{ kind: "first-run" }],
    log,
    running: (handle) => handles.push(handle ? "running" : "none"),
    freed: () => handles.push("freed"),
  };
  return {
    ...at,
    state,
    workspace,
    bound,
    started,
    events,
    asked,
    handles,
    slept,
    lease: join(state.leases, bound.key),
    log: () => readFileSync(log, "utf8"),
    execute: (more: Partial<RunContext & ExecuteOptions> = {}, as = bound): Promise<Executed> =>
      executeInstance(instance!, as, { ...context, ...more }),
    journal: () =>
      readFileSync(join(state.journals, `${run}.jsonl`), "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { event: string } & Record<string, unknown>),
    kinds: () => events.map(({ kind }) => kind),
  };
}

type Try = (started: StartedTry) => void;

const succeed: Try = ({ request, end }) => {
  for (const path of Object.values(request.outputs)) writeFileSync(path, "given");
  end({ kind: "succeeded" });
};
const failure = (detail: string, cause: "machine" | "exit-code" | "time-limit" = "machine"): Try => {
  return ({ end }) => end({ kind: "failed", cause, detail });
};
const machine = failure("no space");
const stage: SmallStage = { name: "stage" };
const tried = (retries: number, more: Partial<SmallStage> = {}): SmallStage => ({
  ...stage,
  ...more,
  execution: { ...more.execution, retries },
});

/** Records the action as another run would. */
function doneElsewhere({ open, bound }: Lab): void {
  const { actions, store } = open();
  actions.put({
    formatVersion: 1,
    key: bound.key,
    parts: bound.parts,
    codeFiles: store.putText("{}"),
    outputs: { out: { kind: "file", digest: store.putText("theirs") } },
    ran: { run: "other", startedAt: "", durationMs: 7, executor: "local", host: "h", stage: "stage" },
  });
}

/** Takes the lease for another run: of this process, or of a host without a heartbeat. */
function held(at: Lab, by: "here" | "silent") {
  if (by === "here") return tryLease(at.state.leases, at.bound.key) as { release(): void };
  const card = join(at.root, "their-card");
  writeFileSync(card, JSON.stringify({ host: "gpu2", boot: "b", pid: 17, started: "5" }));
  linkSync(card, at.lease);
  return { release: () => rmSync(at.lease, { force: true }) };
}

/** A remote cache that has the result of this action, or lacks it. */
function remoteDouble(at: Lab, has: boolean) {
  const calls: string[] = [];
  const double = {
    async take(_: unknown, __: unknown, { loading }: { loading?: (bytes: number) => void }) {
      calls.push("take");
      if (!has) return undefined;
      loading?.(6);
      doneElsewhere(at);
      at.workspace.actions.refresh();
      return "alice";
    },
    offer: () => void calls.push("offer"),
  };
  return { calls, remote: double as unknown as RemoteCache };
}

function assertNothingLeft(at: Lab): void {
  assert.deepEqual(readdirSync(at.state.leases), [], "no lease is left");
}

test("a successful stage is recorded under its key, and its lease is released", async (t) => {
  const at = await lab(t, stage);
  const reasons: Reason[] = [{ kind: "params-changed", names: ["a"] }];
  const executed = await at.execute({ reasons });
  assert.equal(executed.kind, "succeeded");
  const { outputs } = at.open().actions.get(at.bound.key)!;
  assert.equal(at.workspace.store.textOf(outputs.out!.digest), "given");
  assert.deepEqual(at.kinds(), ["started"]);
  const { time: _, ...line } = at.journal()[0]!;
  assert.deepEqual(line, { formatVersion: 1, event: "start", stage: "stage", key: at.bound.key, reasons });
  assertNothingLeft(at);
});

test("the lease is held while the stage runs", async (t) => {
  const at = await lab(t, stage, [
    (one) => {
      assert.ok(existsSync(at.lease));
      succeed(one);
    },
  ]);
  assert.equal((await at.execute()).kind, "succeeded");
  assertNothingLeft(at);
});

test("the start event holds the duration of the last success", async (t) => {
  const at = await lab(t, stage);
  at.workspace.last.put({ id: "stage", key: "k", durationMs: 1234 });
  await at.execute();
  const [event] = at.events;
  assert.ok(event?.kind === "started");
  assert.equal(event.expectedMs, 1234);
});

test("the result of another run that holds the lease is awaited and used", async (t) => {
  const at = await lab(t, stage);
  assert.equal(at.workspace.actions.get(at.bound.key), undefined, "as it was when this run looked");
  const theirs = held(at, "here");
  const executed = await at.execute({
    onEvent: (event) => {
      at.events.push(event);
      doneElsewhere(at);
      theirs.release();
    },
  });
  assert.deepEqual(at.kinds(), ["waiting"]);
  assert.ok(executed.kind === "found");
  assert.equal(executed.cached.durationMs, 7);
  assert.equal(at.started.length, 0);
  assertNothingLeft(at);
});

test("a stage that another run released without a result runs here", async (t) => {
  const at = await lab(t, stage);
  const theirs = held(at, "here");
  const executed = await at.execute({
    onEvent: (event) => {
      at.events.push(event);
      theirs.release();
    },
  });
  assert.equal(executed.kind, "succeeded");
  assert.deepEqual(at.kinds(), ["waiting", "started"]);
});

const paid: SmallStage = { name: "attempt", durable: true, execution: { executor: "fake" } };

/** Another run's record of the attempt. */
function recordedElsewhere(
  { open, bound, root }: Lab,
  { key, parts }: Pick<Bound, "key" | "parts"> = bound,
): void {
  const { attempts, store } = open();
  const out = { kind: "file" as const, digest: store.putText("theirs"), file: "out" };
  attempts.put(
    {
      formatVersion: 1,
      slot: { pipeline: "small", profile: "smoke", stage: "attempt" },
      axes: {},
      attemptKey: key,
      parts,
      given: [],
      outputs: { out },
      harness: {},
      cost: { gpuHours: 24, dollars: 43 },
      ran: { run: "other", startedAt: "", durationMs: 7, executor: "local", host: "h" },
    },
    join(root, "no log"),
  );
}

test("an attempt's record holds the digest of the protocol that lay there when it started, and its key does not", async (t) => {
  const at = await lab(t, paid);
  const recorded = async (text?: string) => {
    if (text !== undefined) at.write("protocols/small/smoke.json", text);
    const bound = { ...at.bound, key: createHash("sha256").update(`${text}`).digest("hex") };
    assert.equal((await at.execute({}, bound)).kind, "succeeded");
    return at.open().attempts.find(bound.key)!.record;
  };
  const without = await recorded();
  const [torn, whole] = [await recorded('{"torn'), await recorded("{}")];
  assert.deepEqual(
    [without, torn, whole].map(({ protocol }) => protocol),
    [
      undefined,
      createHash("sha256").update('{"torn').digest("hex"),
      createHash("sha256").update("{}").digest("hex"),
    ],
  );
  assert.deepEqual(torn.parts, without.parts);
});

test("a record that another run added while this one waited is used", async (t) => {
  const at = await lab(t, paid);
  assert.equal(at.workspace.attempts.find(at.bound.key), undefined);
  const theirs = held(at, "here");
  const executed = await at.execute({
    onEvent: () => {
      recordedElsewhere(at);
      theirs.release();
    },
  });
  assert.ok(executed.kind === "found");
  assert.equal(executed.cached.record?.record.ran.run, "other");
  assert.equal(at.started.length, 0);
});

test("an attempt whose slot has a record of another key is run, not taken from that record", async (t) => {
  const at = await lab(t, paid);
  recordedElsewhere(at, { key: "0".repeat(64), parts: { ...at.bound.parts, params: { other: 1 } } });
  const executed = await at.execute();
  assert.ok(executed.kind === "succeeded");
  assert.equal(executed.record?.record.attemptKey, at.bound.key);
});

test("a run interrupted while it waits starts nothing and leaves the lease", async (t) => {
  const at = await lab(t, stage);
  const theirs = held(at, "here");
  let interrupts = 0;
  const onEvent = () => {
    interrupts = 1;
  };
  assert.deepEqual(await at.execute({ interrupts: () => interrupts, onEvent }), { kind: "cancelled" });
  assert.equal(at.started.length, 0);
  assert.ok(existsSync(at.lease));
  theirs.release();
});

test("an interrupted run starts nothing when the lease is free", async (t) => {
  const at = await lab(t, stage);
  assert.deepEqual(await at.execute({ interrupts: () => 1 }), { kind: "cancelled" });
  assert.deepEqual([at.started.length, at.journal().length], [0, 0]);
  assertNothingLeft(at);
});

test("an interrupted run still uses what another run has finished", async (t) => {
  const at = await lab(t, stage);
  doneElsewhere(at);
  assert.equal((await at.execute({ interrupts: () => 1 })).kind, "found");
});

test("an attempt leased by a silent host is not restarted without --take-over", async (t) => {
  const at = await lab(t, paid);
  held(at, "silent");
  const executed = await at.execute({ silentMs: 0 });
  assert.ok(executed.kind === "failed");
  assert.equal(executed.cause, "machine");
  assert.match(
    executed.detail,
    /^process 17 on gpu2 holds it and has been silent for .*; if it is gone for good, run again with --take-over$/,
  );
  assert.equal(at.started.length, 0);
  assert.ok(existsSync(at.lease), "its lease stays its own");
});

test("the record of an attempt leased by a silent host is used", async (t) => {
  const at = await lab(t, paid);
  held(at, "silent");
  recordedElsewhere(at);
  assert.equal((await at.execute({ silentMs: 0 })).kind, "found");
});

test("an interrupted run is cancelled, not failed, when a silent host holds the lease", async (t) => {
  const at = await lab(t, paid);
  held(at, "silent");
  let interrupts = 0;
  const onEvent = () => {
    interrupts = 1;
  };
  assert.deepEqual(await at.execute({ silentMs: 0, interrupts: () => interrupts, onEvent }), {
    kind: "cancelled",
  });
});

test("--take-over restarts an attempt leased by a silent host, and journals the takeover", async (t) => {
  const at = await lab(t, paid);
  held(at, "silent");
  assert.equal((await at.execute({ silentMs: 0, takeOver: true })).kind, "succeeded");
  const [taken] = at.journal();
  assert.equal(taken?.event, "take-over");
  assert.deepEqual(taken.owner, { host: "gpu2", boot: "b", pid: 17, started: "5" });
  const event = at.events.find(({ kind }) => kind === "taken-over");
  assert.ok(event?.kind === "taken-over" && event.silentMs >= 0);
  assert.deepEqual(event.owner, taken.owner);
});

test("a stage that is not an attempt is taken over from a silent host without --take-over", async (t) => {
  const at = await lab(t, stage);
  held(at, "silent");
  assert.equal((await at.execute({ silentMs: 0 })).kind, "succeeded");
  assert.equal(at.journal()[0]?.event, "take-over");
});

test("a host is not silent at once when no silence limit is set", async (t) => {
  const at = await lab(t, paid);
  const theirs = held(at, "silent");
  let looks = 0;
  const interrupts = () => {
    if (++looks === 20) theirs.release();
    return 0;
  };
  assert.equal((await at.execute({ interrupts })).kind, "succeeded");
});

for (const cause of ["exit-code", "time-limit"] as const) {
  test(`a stage that failed by ${cause} is neither retried nor recorded`, async (t) => {
    const at = await lab(t, tried(3), [failure("its own", cause)]);
    assert.deepEqual(await at.execute(), { kind: "failed", cause, detail: "its own" });
    assert.equal(at.started.length, 1);
    assert.equal(at.open().actions.get(at.bound.key), undefined);
    assertNothingLeft(at);
  });
}

test("a machine failure is retried with doubling pauses, and log and journal show each try", async (t) => {
  const at = await lab(t, tried(3), [failure("one"), failure("two"), failure("three"), succeed]);
  assert.equal((await at.execute()).kind, "succeeded");
  assert.deepEqual(at.slept, [1000, 2000, 4000]);
  assert.deepEqual(
    at.journal().map(({ event, tried, detail }) => [event, tried, detail]),
    [
      ["start", undefined, undefined],
      ["retry", 1, "one"],
      ["retry", 2, "two"],
      ["retry", 3, "three"],
    ],
  );
  assert.match(at.log(), /^mlrb: try 1 of 4: one\nmlrb: try 2 of 4: two\nmlrb: try 3 of 4: three\n$/);
  assert.deepEqual(
    at.events.flatMap((event) => (event.kind === "retried" ? [[event.detail, event.remade]] : [])),
    [
      ["one", false],
      ["two", false],
      ["three", false],
    ],
  );
});

test("the pause before a retry is at most a minute", async (t) => {
  const at = await lab(t, tried(8), Array<Try>(8).fill(machine));
  await at.execute();
  assert.deepEqual(at.slept.slice(5), [32_000, 60_000, 60_000]);
});

test("retries: N means N + 1 tries, and the last failure is returned", async (t) => {
  const at = await lab(t, tried(1), [failure("one"), failure("two")]);
  assert.deepEqual(await at.execute(), { kind: "failed", cause: "machine", detail: "two" });
  assert.equal(at.started.length, 2);
});

test("an executor's own number of retries counts where the stage says less", async (t) => {
  const stageOnce = { ...tried(0), execution: { executor: "fake" } };
  const at = await lab(t, stageOnce, [machine, machine, succeed], undefined, { retries: 2 });
  assert.equal((await at.execute()).kind, "succeeded");
  const folders = at.started.map(({ request }) => request.work);
  assert.equal(new Set(folders).size, 3, "a lost node may still be writing in the folder of its try");
  const own = await lab(t, stageOnce, [failure("its own", "exit-code"), succeed], undefined, { retries: 2 });
  assert.equal((await own.execute()).kind, "failed");
});

test("without retries a machine failure is final", async (t) => {
  const at = await lab(t, stage, [machine]);
  assert.equal((await at.execute()).kind, "failed");
  assert.equal(at.started.length, 1);
});

test("an interrupted run retries nothing", async (t) => {
  let interrupts = 0;
  const at = await lab(t, tried(3), [
    (one) => {
      interrupts = 3;
      machine(one);
    },
  ]);
  assert.equal((await at.execute({ interrupts: () => interrupts })).kind, "failed");
  assert.equal(at.started.length, 1);
});

test("a stage whose lease another run took over is not retried", async (t) => {
  const at = await lab(t, tried(3), [
    (one) => {
      rmSync(at.lease);
      linkSync(join(at.root, "their-card"), at.lease);
      machine(one);
    },
  ]);
  writeFileSync(join(at.root, "their-card"), JSON.stringify(thisProcess()));
  assert.equal((await at.execute()).kind, "failed");
  assert.equal(at.started.length, 1);
  assert.ok(existsSync(at.lease), "the other's lease is not removed");
});

/** Succeeds; meanwhile a declared file comes and goes. */
const disturbed: Try = (one) => {
  const file = join(one.request.root, "words.txt");
  writeFileSync(file, "one");
  rmSync(file);
  succeed(one);
};
const reading: SmallStage = { ...stage, action: { files: ["*.txt"] } };
const runsOnceMore =
  "words.txt may have changed while it ran, and is now as it was before; the stage runs once more";

test("a stage whose sources may have changed while it ran, and are as its key says, runs once more and says so", async (t) => {
  const at = await lab(t, reading, [disturbed, succeed]);
  assert.equal((await at.execute()).kind, "succeeded");
  assert.equal(at.started.length, 2);
  assert.deepEqual(
    at.events.flatMap((event) => (event.kind === "retried" ? [event.detail] : [])),
    [runsOnceMore],
  );
  assert.deepEqual(
    at.journal().map(({ event, cause, detail }) => [event, cause, detail]),
    [
      ["start", undefined, undefined],
      ["retry", "code-changed", runsOnceMore],
    ],
  );
  assert.equal(at.log(), `mlrb: try 1 of 2: ${runsOnceMore}\n`);
  assert.deepEqual(at.handles.filter((what) => what === "freed").length, 1, "its GPUs are held until then");
});

test("a stage is repeated once for its sources, whatever its number of retries, and no more", async (t) => {
  for (const retries of [0, 3]) {
    const at = await lab(t, tried(retries, reading), [disturbed, disturbed, succeed]);
    const end = await at.execute();
    assert.ok(end.kind === "failed" && end.cause === "code-changed");
    assert.match(end.detail, /words\.txt appeared or disappeared while the stage ran; run again/);
    assert.equal(at.started.length, 2);
  }
  const both = await lab(t, tried(1, reading), [disturbed, machine, succeed]);
  assert.equal((await both.execute()).kind, "succeeded", "a retry for the machine is left");
});

test("an interrupted run, a stage with a secret and a stage whose files really changed are not repeated for their sources", async (t) => {
  process.env.MLRB_TEST_PAID_KEY = "secret";
  t.after(() => delete process.env.MLRB_TEST_PAID_KEY);
  const secret = { ...reading, action: { files: ["*.txt"], secrets: ["MLRB_TEST_PAID_KEY"] } };
  const edited: Try = (one) => {
    writeFileSync(join(one.request.root, "words.txt"), "two");
    succeed(one);
  };
  let interrupts = 0;
  const interrupted: Try = (one) => {
    interrupts = 1;
    disturbed(one);
  };
  for (const [of, act] of [
    [reading, interrupted],
    [secret, disturbed],
    [reading, edited],
  ] as const) {
    interrupts = 0;
    const at = await lab(t, of, [act, succeed]);
    assert.equal((await at.execute({ interrupts: () => interrupts })).kind, "failed");
    assert.equal(at.started.length, 1);
  }
});

const withGpu = { executor: "fake", resources: { gpus: 1 } };

/** Writes an output; then the machine fails. */
const half: Try = (one) => {
  writeFileSync(one.request.outputs.out!, "half of it");
  machine(one);
};

for (const [what, more] of Object.entries({
  "is handed a paid key": { action: { secrets: ["MLRB_TEST_PAID_KEY"] } },
  "holds GPUs": { execution: { executor: "fake", resources: { gpus: 1 } } },
})) {
  test(`an attempt that ${what} is quarantined, not retried, when the machine failed it`, async (t) => {
    process.env.MLRB_TEST_PAID_KEY = "secret";
    t.after(() => delete process.env.MLRB_TEST_PAID_KEY);
    const at = await lab(t, tried(3, { ...paid, ...more }), [half]);
    const executed = await at.execute();
    assert.ok(executed.kind === "failed");
    assert.ok(executed.quarantined);
    assert.equal(at.started.length, 1);
    const kept = join(at.root, executed.quarantined.folder, "out/out");
    assert.equal(readFileSync(kept, "utf8"), "half of it");
    assertNothingLeft(at);
  });
}

test("a paid attempt that an error keeps from being settled is not restarted", async (t) => {
  const at = await lab(t, tried(3, { ...paid, execution: withGpu }), [
    (one) => {
      writeFileSync(join(at.state.attempts, "lost"), ""); // stands for a full disk: nothing can be moved there
      half(one);
    },
  ]);
  const executed = await at.execute();
  assert.ok(executed.kind === "failed");
  assert.equal(at.started.length, 1);
  assert.equal(readdirSync(at.state.running).length, 1, "the next run settles it");
});

test("a paid attempt that is done, and whose record could not be written at once, is kept by the retry", async (t) => {
  const ended: Try = (one) => {
    const [name] = readdirSync(at.state.running);
    const end = { formatVersion: 1, result: { kind: "succeeded" }, durationMs: 1 };
    writeFileSync(join(at.state.running, name!, "end.json"), JSON.stringify(end));
    succeed(one);
  };
  const at = await lab(t, tried(1, { ...paid, execution: withGpu }), [ended]);
  const { attempts } = at.workspace;
  const put = attempts.put.bind(attempts);
  let puts = 0;
  t.mock.method(attempts, "put", (...args: Parameters<typeof put>) => {
    if (puts++ === 0) throw Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
    return put(...args);
  });
  assert.equal((await at.execute()).kind, "succeeded");
  assert.equal(at.started.length, 1);
});

test("a paid attempt whose folder cannot be removed after its record was kept is not restarted", async (t) => {
  const at = await lab(t, tried(3, { ...paid, execution: withGpu }), [succeed]);
  const { attempts } = at.workspace;
  const put = attempts.put.bind(attempts);
  t.mock.method(attempts, "put", (...args: Parameters<typeof put>) => {
    const kept = put(...args);
    const busy = () => {
      throw Object.assign(new Error("EBUSY: resource busy, unlink"), { code: "EBUSY" });
    };
    const mocks = [t.mock.method(promises, "rm", async () => busy()), t.mock.method(fs, "rmSync", busy)];
    syncBuiltinESMExports();
    t.after(() => {
      for (const { mock } of mocks) mock.restore();
      syncBuiltinESMExports();
    });
    return kept;
  });
  assert.equal((await at.execute()).kind, "succeeded");
  assert.equal(at.started.length, 1);
});

test("an earlier loss of the same action keeps no try that spent nothing from being repeated", async (t) => {
  const neverBegan: Try = () => {
    throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
  };
  const at = await lab(t, tried(1, { ...paid, execution: withGpu }), [half, neverBegan, succeed]);
  const first = await at.execute();
  assert.ok(first.kind === "failed" && first.quarantined);
  assert.equal((await at.execute()).kind, "succeeded");
  assert.equal(at.started.length, 3);
});

test("an attempt without costs is quarantined and retried when the machine failed it", async (t) => {
  const at = await lab(t, tried(1, paid), [half, succeed]);
  assert.equal((await at.execute()).kind, "succeeded");
  assert.equal(readdirSync(join(at.state.attempts, "lost")).length, 1);
});

test("a paid attempt that never began is retried", async (t) => {
  const gpus = { executor: "fake", resources: { gpus: 1 } };
  const neverBegan: Try = (one) => {
    rmSync(one.request.log);
    machine(one);
  };
  const at = await lab(t, tried(1, { ...paid, execution: gpus }), [neverBegan, succeed]);
  assert.equal((await at.execute()).kind, "succeeded");
});

test("a paid attempt that was lost after its cost was confirmed is not restarted", async (t) => {
  const at = await lab(t, { ...paid, execution: { executor: "fake", resources: { gpus: 1 } } });
  const executed = await at.execute({ going: new Set([at.bound.key]) });
  assert.ok(executed.kind === "failed");
  assert.equal(executed.cause, "operator");
  assert.equal(at.started.length, 0);
});

test("an attempt without costs is restarted when it was lost", async (t) => {
  const at = await lab(t, paid);
  assert.equal((await at.execute({ going: new Set([at.bound.key]) })).kind, "succeeded");
});

/** Writes the folder of an attempt that succeeded after its run was killed. */
function endedBefore(at: Lab, bound: Bound): void {
  const path = join(at.state.running, "before");
  mkdirSync(join(path, "out"), { recursive: true });
  writeFileSync(join(path, "out/out"), "theirs");
  const card = {
    formatVersion: 1,
    run: "before",
    by: { ...thisProcess(), started: "1" },
    startedAt: "2026-01-01T00:00:00Z",
    slot: { pipeline: "small", profile: "smoke", stage: "attempt" },
    axes: {},
    key: bound.key,
    parts: bound.parts,
    given: [],
    gives: [{ name: "out", file: "out", kind: "file" }],
    harness: {},
    gpus: 1,
    secrets: [],
    executor: "local",
  };
  writeFileSync(join(path, "attempt.json"), JSON.stringify(card));
  const end = { formatVersion: 1, result: { kind: "succeeded" }, durationMs: 5 };
  writeFileSync(join(path, "end.json"), JSON.stringify(end));
}

/** Makes this process find no GPU, or the GPUs of a fake driver. */
function withGpus(t: TestContext, at: Lab, count: number): void {
  const { PATH, MLRB_GPU_LEASES, CUDA_VISIBLE_DEVICES } = process.env;
  t.after(() => Object.assign(process.env, { PATH }));
  for (const [name, value] of Object.entries({ MLRB_GPU_LEASES, CUDA_VISIBLE_DEVICES }))
    t.after(() => {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    });
  delete process.env.CUDA_VISIBLE_DEVICES;
  const bin =
    count === 0 ? join(at.root, "no-bin") : fakeNvidia(join(at.root, "nvidia"), fakeGpus(count)).bin;
  process.env.PATH = [bin, "/usr/bin", "/bin"].slice(0, count === 0 ? 1 : 3).join(delimiter);
  process.env.MLRB_GPU_LEASES = join(at.root, "gpu-leases");
  assert.equal(gpuInventory().gpus.length, count);
}

const onGpu = { executor: "local", resources: { gpus: 1 } };

test("a GPU stage on a machine without GPUs fails before it starts", async (t) => {
  const at = await lab(t, { ...stage, execution: onGpu });
  withGpus(t, at, 0);
  const executed = await at.execute();
  assert.ok(executed.kind === "failed");
  assert.equal(executed.cause, "machine");
  assert.deepEqual([at.started.length, at.journal().length, at.kinds().length], [0, 0, 0]);
  assertNothingLeft(at);
});

test("an attempt that ended after its run was killed is recorded without a GPU lease", async (t) => {
  const at = await lab(t, { ...paid, execution: onGpu });
  withGpus(t, at, 0);
  endedBefore(at, at.bound);
  const executed = await at.execute({ going: new Set([at.bound.key]) });
  assert.ok(executed.kind === "succeeded", JSON.stringify(executed));
  assert.equal(executed.record?.record.ran.run, "before");
  assert.equal(at.started.length, 0);
  assert.equal(
    at.journal().some(({ event }) => event === "adopt"),
    true,
  );
});

test("a GPU lease lasts over all tries of a stage and is released at its end", async (t) => {
  const uuids: (string | undefined)[] = [];
  const note: Try = (one) => {
    uuids.push(one.request.gpus[0]?.uuid);
    machine(one);
  };
  const at = await lab(t, { ...stage, execution: { ...onGpu, retries: 1 } }, [note, note, note, note]);
  withGpus(t, at, 1);
  for (let time = 0; time < 2; time++) {
    const executed = await at.execute();
    assert.equal(executed.kind === "failed" && executed.detail, "no space", "it waits for no one");
  }
  assert.deepEqual(new Set(uuids), new Set([gpuInventory().gpus[0]!.uuid]));
  assert.equal(at.started.length, 4);
});

test("a GPU is released before the results of its stage are stored", async (t) => {
  const at = await lab(t, { ...stage, execution: onGpu });
  withGpus(t, at, 1);
  const waited: string[] = [];
  let next: ReturnType<typeof leaseGpus> | undefined;
  const freed = () => {
    assert.equal(at.open().actions.get(at.bound.key), undefined);
    next = leaseGpus({ count: 1, run: "other", stage: "other", waiting: (holder) => waited.push(holder) });
  };
  assert.equal((await at.execute({ freed })).kind, "succeeded");
  const lease = await next;
  assert.ok(lease && "gpus" in lease);
  assert.deepEqual(waited, []);
  lease.release();
});

test("the handle on a stage is passed on at its start and withdrawn at its end", async (t) => {
  const at = await lab(t, stage);
  await at.execute();
  assert.equal(at.handles[0], "running");
  assert.equal(at.handles.at(-1), "none");
});

test("resources are freed early only on the last try", async (t) => {
  const one = await lab(t, stage);
  await one.execute();
  assert.deepEqual(one.handles.filter((what) => what === "freed").length, 1);
  const two = await lab(t, tried(1));
  await two.execute();
  assert.equal(two.handles.includes("freed"), false);
});

for (const [interrupts, call] of [
  [1, "askToEnd"],
  [2, "kill"],
  [3, "kill"],
] as const) {
  test(`a stage that starts during interrupt ${interrupts} gets ${call}`, async (t) => {
    let times = 0;
    const at = await lab(t, stage, [
      () => {
        times = interrupts;
      },
    ]);
    assert.deepEqual(await at.execute({ interrupts: () => times }), { kind: "cancelled" });
    assert.deepEqual(at.started[0]?.calls, [call]);
    assertNothingLeft(at);
  });
}

test("the supervisor of an untrusted stage runs under the local executor", async (t) => {
  const docker = { executor: "docker", image: "host" };
  const untrusted = await lab(t, { ...stage, untrusted: true, execution: docker });
  await untrusted.execute();
  assert.deepEqual(untrusted.asked, ["local"]);
  const trusted = await lab(t, { ...stage, execution: docker });
  await trusted.execute();
  assert.deepEqual(trusted.asked, ["docker"]);
});

test("a full disk before the start is a machine failure, and the lease is released", async (t) => {
  const at = await lab(t, stage);
  const executorOf = async () => {
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  };
  const executed = await at.execute({ executorOf });
  assert.ok(executed.kind === "failed");
  assert.equal(executed.cause, "machine");
  assertNothingLeft(at);
});

test("a bug is thrown, not reported as a machine failure, and the lease is released", async (t) => {
  const at = await lab(t, stage);
  const executorOf = async () => {
    throw new Error("bug: on purpose");
  };
  await assert.rejects(at.execute({ executorOf }), /bug: on purpose/);
  assertNothingLeft(at);
});

test("the record of an attempt holds its slot and its cost estimate", async (t) => {
  const at = await lab(t, paid);
  const executed = await at.execute();
  assert.ok(executed.kind === "succeeded");
  const { slot, estimate, attemptKey } = executed.record!.record;
  assert.deepEqual(slot, { pipeline: "small", profile: "smoke", stage: "attempt" });
  assert.equal(attemptKey, at.bound.key);
  assert.deepEqual(estimate, { gpuHours: 0, dollars: 0, timeMs: null, from: 0 });
  assert.equal(basename(at.started[0]!.request.work).startsWith(at.bound.key.slice(0, 16)), true);
});

test("the record of an attempt pins its inputs by the stage and the output that they come from", async (t) => {
  const data: SmallStage = { name: "data", gives: { words: "file" } };
  const at = await lab(t, { ...paid, needs: { given: "data.words" } }, [], data);
  const executed = await at.execute();
  assert.ok(executed.kind === "succeeded");
  const { digest } = at.bound.inputs.given!;
  const pin = { name: "given", stage: "data", output: "words", kind: "file", digest };
  assert.deepEqual(executed.record?.record.given, [pin]);
});

test("an undeclared read of an attempt's script is reported, and the attempt counts", async (t) => {
  const at = await lab(t, paid, [
    (one) => {
      const line = JSON.stringify({ kind: "read", resource: join(at.root, "hidden.txt") });
      writeFileSync(
        join(one.request.work, "refusals.jsonl"),
        `${line}\nnull\n{"kind":"read","resource":7}\n`,
      );
      succeed(one);
    },
  ]);
  at.write("hidden.txt", "");
  assert.equal((await at.execute()).kind, "succeeded");
  const event = at.events.find(({ kind }) => kind === "undeclared");
  assert.ok(event?.kind === "undeclared");
  assert.match(event.what, /hidden\.txt/);
});

test("an interrupted run leaves an attempt with its own supervisor running", async (t) => {
  const at = await lab(t, paid);
  endedBefore(at, at.bound);
  const folder = join(at.state.running, "before");
  rmSync(join(folder, "end.json"));
  writeFileSync(join(folder, "supervisor.json"), JSON.stringify(thisProcess()));
  let interrupts = 0;
  const onEvent = (event: RunEvent) => {
    at.events.push(event);
    if (event.kind === "adopted") interrupts = 1;
  };
  const executed = await at.execute({
    onEvent,
    interrupts: () => interrupts,
    executorOf: async () => ({ name: "local" }) as Executor,
  });
  assert.deepEqual(executed, { kind: "cancelled" });
  const left = at.events.at(-1);
  assert.ok(left?.kind === "left");
  assert.equal(left.name, "before");
  assert.ok(existsSync(folder));
  assertNothingLeft(at);
});

const deadProcess: Owner = { ...thisProcess(), pid: 2 ** 22 + 1, started: "1" };

/** Writes the folder of a model's attempt without an end, begun by `by`. */
function brokenOff(at: Lab, { by, supervisor }: { by: Owner; supervisor: Owner }): string {
  const gives = [{ name: "trajectory", file: "trajectory", kind: "file" as const }];
  const { path } = makeAttemptFolder(at.state.running, { ...exampleCard, key: at.bound.key, gives, by });
  mkdirSync(join(path, "attempt-x/sandbox-y/workspace"), { recursive: true });
  writeFileSync(
    join(path, "out/trajectory"),
    `${JSON.stringify({ ...exampleEvent("start"), kind: "llm" })}\n`,
  );
  writeFileSync(join(path, "supervisor.json"), JSON.stringify(supervisor));
  return path;
}

const statesIn = (at: Lab) => attemptFolders(at.state.running).map(({ state: { kind } }) => kind);

test("an attempt whose next supervisor cannot be prepared stays, and the next run starts no other one", async (t) => {
  const at = await lab(t, paid);
  const path = brokenOff(at, { by: thisProcess(), supervisor: deadProcess });
  rmSync(join(path, "in"), { recursive: true }); // as if its inputs could not be written
  for (const _ of ["its own run", "the next one"]) {
    const executed = await at.execute();
    assert.ok(executed.kind === "failed" && executed.cause === "machine", JSON.stringify(executed));
    assert.deepEqual([at.started.length, statesIn(at)], [0, ["resumable"]]);
  }
  assertNothingLeft(at);
});

test("a run that is interrupted before its attempt's next supervisor has begun leaves the attempt", async (t) => {
  const at = await lab(t, paid);
  const path = brokenOff(at, { by: thisProcess(), supervisor: thisProcess() });
  let interrupts = 0;
  const executed = await at.execute({
    onEvent: (event) => {
      at.events.push(event);
      if (event.kind !== "adopted") return;
      rmSync(join(path, "supervisor.json"));
      interrupts = 1;
    },
    interrupts: () => interrupts,
    executorOf: async () => ({ name: "local" }) as Executor,
  });
  assert.deepEqual(executed, { kind: "cancelled" });
  assert.deepEqual([at.kinds().at(-1), statesIn(at)], ["left", ["resumable"]]);
});

const there: Owner = { host: "gpu2", boot: "b", pid: 17, started: "5" };
const claimIn = (path: string) => readFileSync(join(path, "supervisor.json"), "utf8");

test("an attempt that goes on under a supervisor on another host is waited for, without its lease, and not repeated", async (t) => {
  const at = await lab(t, paid);
  const path = brokenOff(at, { by: there, supervisor: there });
  let looks = 0;
  const interrupts = () => {
    if (++looks === 20) assert.deepEqual(readdirSync(at.state.leases), []);
    if (looks === 21) {
      recordedElsewhere(at);
      rmSync(path, { recursive: true });
    }
    return 0;
  };
  assert.equal((await at.execute({ interrupts })).kind, "found");
  assert.deepEqual([at.kinds(), at.started.length], [["waiting"], 0]);
  assertNothingLeft(at);
});

test("an attempt whose supervisor on another host is silent is not restarted without --take-over", async (t) => {
  const at = await lab(t, paid);
  brokenOff(at, { by: there, supervisor: there });
  const executed = await at.execute({ silentMs: 0 });
  assert.ok(executed.kind === "failed");
  assert.match(executed.detail, /^process 17 on gpu2 .* silent for .* run again with --take-over$/);
  assert.deepEqual([at.started.length, statesIn(at)], [0, ["elsewhere"]]);
  assertNothingLeft(at);
});

test("--take-over leaves an attempt on another host alone that is not silent for long enough", async (t) => {
  const at = await lab(t, paid);
  const path = brokenOff(at, { by: there, supervisor: there });
  let looks = 0;
  const interrupts = () => (++looks > 30 ? 1 : 0);
  assert.deepEqual(await at.execute({ takeOver: true, interrupts }), { kind: "cancelled" });
  assert.deepEqual([statesIn(at), claimIn(path)], [["elsewhere"], JSON.stringify(there)]);
});

test("--take-over makes an attempt that cannot continue anew once its host is silent, and journals it", async (t) => {
  const at = await lab(t, paid);
  const path = brokenOff(at, { by: there, supervisor: there });
  rmSync(join(path, "out/trajectory"));
  assert.equal((await at.execute({ takeOver: true, silentMs: 0 })).kind, "succeeded");
  assert.deepEqual([at.started.length, statesIn(at)], [1, ["lost"]]);
  assert.deepEqual(
    [at.journal()[0]?.event, at.kinds().slice(0, 2)],
    ["take-over", ["waiting", "taken-over"]],
  );
  assertNothingLeft(at);
});

test("the token of a stage holds its run and its index", async (t) => {
  const at = await lab(t, stage);
  await at.execute();
  assert.equal(at.started[0]?.request.token, `mlrb:run-${processName}:0:`);
});

test("a result of the remote cache is used, and nothing starts", async (t) => {
  const at = await lab(t, stage);
  const { calls, remote } = remoteDouble(at, true);
  const result = await at.execute({ remote });
  assert.ok(result.kind === "found");
  assert.deepEqual([result.cached.remote, result.cached.durationMs], ["alice", 7]);
  assert.deepEqual([calls, at.kinds(), at.started.length], [["take"], ["loading"], 0]);
  assertNothingLeft(at);
});

test("a result that the remote cache lacks is made and offered; a failure and a result of another run are not", async (t) => {
  const at = await lab(t, stage, [failure("no", "exit-code"), succeed]);
  const { calls, remote } = remoteDouble(at, false);
  assert.equal((await at.execute({ remote })).kind, "failed");
  assert.equal((await at.execute({ remote })).kind, "succeeded");
  assert.equal((await at.execute({ remote })).kind, "found");
  assert.deepEqual(calls, ["take", "take", "offer"]);
});

test("an interrupt while a result is loaded ends the loading, and nothing starts", async (t) => {
  const at = await lab(t, stage);
  let handle: Running | undefined;
  let interrupts = 0;
  const take = async (_: unknown, __: unknown, { signal }: { signal: AbortSignal }) => {
    interrupts = 1;
    handle!.askToEnd();
    assert.ok(signal.aborted);
    return undefined;
  };
  const result = await at.execute({
    remote: { take } as unknown as RemoteCache,
    running: (one) => {
      handle = one;
    },
    interrupts: () => interrupts,
  });
  assert.deepEqual([result.kind, at.started.length], ["cancelled", 0]);
  assertNothingLeft(at);
});
