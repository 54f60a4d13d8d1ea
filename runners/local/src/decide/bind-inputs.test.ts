import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { actionKey } from "@mlrb/core/key/action-key";
import { environmentStage, type Plan } from "@mlrb/core/plan/plan";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { Collected } from "@mlrb/formats/stage/collected";
import type { Result } from "../run/result.ts";
import { type Home, home, type SmallStage, smallPlan, withoutPython } from "../testing/small-plan.ts";
import { type Bound, bind } from "./bind-inputs.ts";
import { hostFacts, hostKind, processorClass } from "./host-facts.ts";

const digestOf = (letter: string) => letter.repeat(64);

/** A successful result. Each letter abbreviates the digest of an output. */
function gave(outputs: Record<string, string>, more: Partial<Result> = {}): Result {
  const artifact = (letter: string) => ({ kind: "file", digest: digestOf(letter) }) as const;
  return {
    outcome: { kind: "succeeded" },
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, letter]) => [name, artifact(letter)])),
    ...more,
  };
}

/** An attempt's record that pins one output. */
function recordGiven(output: string, letter: string, stage = "data"): Pick<Result, "record"> {
  const given = [{ name: "any", stage, output, kind: "file", digest: digestOf(letter) }];
  return { record: { digest: "", record: { given } as unknown as AttemptRecord } };
}

type At = { home: Home; plan: Plan; results?: (Result | undefined)[] };

/** Binds the last instance of a plan, with a workspace as a new process opens it. */
function bound({ home, plan, results = [] }: At): Promise<Bound> {
  return bind(plan.instances.at(-1)!, { plan, results, workspace: home.open() });
}

const boundIn = (home: Home, ...stages: SmallStage[]) => bound({ home, plan: smallPlan(...stages) });

const data: SmallStage = { name: "data", gives: { public: "file", private: "file" } };
const attempt: SmallStage = { name: "attempt", durable: true, needs: { public: "data.public" } };
const score: SmallStage = {
  name: "score",
  needs: { submission: "attempt.out", private: "data.private", public: "data.public" },
};

test("the key changes with the digest of an input, and not with other outputs of the same stage", async (t) => {
  const plan = smallPlan(data, { ...score, needs: { private: "data.private" } });
  const at = home(t);
  const one = await bound({ home: at, plan, results: [gave({ public: "a", private: "b" })] });
  assert.deepEqual(one.inputs, { private: { kind: "file", digest: digestOf("b") } });
  assert.deepEqual(one.parts.inputs, { private: digestOf("b") });
  assert.equal(one.key, actionKey(one.parts));
  const other = await bound({ home: at, plan, results: [gave({ public: "c", private: "b" })] });
  assert.equal(other.key, one.key, "what it does not read is no part of its key");
  const changed = await bound({ home: at, plan, results: [gave({ public: "a", private: "c" })] });
  assert.notEqual(changed.key, one.key);
});

test("a score reads the data that its attempt's record pins, not today's data", async (t) => {
  const plan = smallPlan(data, attempt, score);
  const now = gave({ public: "a", private: "b" });
  const results = [now, gave({ out: "c" }, recordGiven("private", "d"))];
  const { inputs, parts } = await bound({ home: home(t), plan, results });
  assert.equal(inputs.private?.digest, digestOf("d"));
  assert.equal(parts.inputs.private, digestOf("d"));
});

test("a pin counts only for the same stage and the same output", async (t) => {
  const plan = smallPlan(data, attempt, score);
  const at = home(t);
  const now = gave({ public: "a", private: "b" });
  for (const record of [recordGiven("private", "d", "other"), recordGiven("else", "d")]) {
    const results = [now, gave({ out: "c" }, record)];
    const { inputs } = await bound({ home: at, plan, results });
    const digests = Object.values(inputs).map(({ digest }) => digest[0]);
    assert.deepEqual(digests, ["c", "b", "a"]);
  }
});

test("a record pins no input of a stage that does not read the attempt", async (t) => {
  const plan = smallPlan(data, attempt, { name: "other", needs: { private: "data.private" } });
  const results = [gave({ private: "b" }), gave({ out: "c" }, recordGiven("private", "d"))];
  const { inputs } = await bound({ home: home(t), plan, results });
  assert.equal(inputs.private?.digest, digestOf("b"));
});

test("binding an instance whose input is missing is a bug", async (t) => {
  const plan = smallPlan(data, { ...score, needs: { private: "data.private" } });
  const at = home(t);
  for (const results of [[], [gave({ public: "a" })]])
    await assert.rejects(
      bound({ home: at, plan, results }),
      /^Error: bug: score is bound before data gave private$/,
    );
});

const report: SmallStage = { name: "report", collect: ["data.public"] };

test("a collecting stage's key changes with the outcome and the outputs of its members", async (t) => {
  const plan = smallPlan(data, report);
  const at = home(t);
  const failed: Result = { outcome: { kind: "failed", cause: "machine", detail: "why" }, outputs: {} };
  const keys = new Set<string>();
  for (const results of [[gave({ public: "a" })], [gave({ public: "b" })], [failed], []]) {
    const { key, manifest, parts } = await bound({ home: at, plan, results });
    keys.add(key);
    const text = at.open().store.textOf(parts.inputs.manifest!);
    assert.deepEqual(JSON.parse(text) as Collected, manifest, "the store has it");
  }
  assert.equal(keys.size, 4);
});

test("a reused member and one that ran give a collecting stage the same key", async (t) => {
  const plan = smallPlan(data, report);
  const at = home(t);
  const [one, two] = [gave({ public: "a" }), gave({ public: "a" }, { outcome: { kind: "reused" } })];
  const keys = [
    await bound({ home: at, plan, results: [one] }),
    await bound({ home: at, plan, results: [two] }),
  ];
  assert.equal(keys[0]!.key, keys[1]!.key);
});

test("a manifest names the weak limits of an untrusted stage's record, and no score's key has them", async (t) => {
  const at = home(t);
  const made = (where: Record<string, string>) => {
    const record = { given: [], ran: { where }, parts: { params: {} } } as unknown as AttemptRecord;
    return gave({ out: "a" }, { record: { digest: "", record } });
  };
  const untrusted = { ...attempt, needs: {}, untrusted: true };
  const kernel = made({ sandbox: "bubblewrap 1", memoryLimit: "kernel", diskLimit: "kernel" });
  const polled = made({ sandbox: "bubblewrap 1", memoryLimit: "polled", diskLimit: "kernel" });
  const memberOf = async (stage: SmallStage, result: Result) => {
    const plan = smallPlan(stage, { name: "report", collect: ["attempt.out"] });
    return (await bound({ home: at, plan, results: [result] })).manifest!.members[0]!;
  };
  assert.deepEqual((await memberOf(untrusted, polled)).weakLimits, ["memory"]);
  for (const member of [await memberOf(untrusted, kernel), await memberOf({ ...attempt, needs: {} }, polled)])
    assert.equal("weakLimits" in member, false);
  const scoreKey = async (result: Result) => {
    const plan = smallPlan(untrusted, { name: "score", needs: { model: "attempt.out" } });
    return (await bound({ home: at, plan, results: [result] })).key;
  };
  assert.equal(await scoreKey(polled), await scoreKey(kernel));
});

test("without write access the key is the same and nothing is written", async (t) => {
  const plan = smallPlan(data, report);
  const at = home(t);
  const results = [gave({ public: "a" })];
  const { key } = await bound({ home: at, plan, results });
  const workspace = at.open();
  rmSync(workspace.state.blobs, { recursive: true });
  const looked = await bind(plan.instances[1]!, { plan, results, workspace });
  assert.equal(looked.key, key);
  assert.equal(readdirSync(join(at.root, ".mlrb/cache")).includes("blobs"), false);
});

test("a stage that collects nothing has no manifest", async (t) => {
  const { manifest, parts } = await boundIn(home(t), data);
  assert.equal(manifest, undefined);
  assert.deepEqual(parts.inputs, {});
});

const scripted = (file = "say.ts") => ({ run: { kind: "script", file } as const });

test("an edited script changes the key of a stage, and not of an attempt", async (t) => {
  const at = home(t);
  at.write("package.json", '{"type": "module"}');
  at.write("say.ts", "console.log(1);\n");
  const before = [
    await boundIn(at, { name: "say", action: scripted() }),
    await boundIn(at, { name: "say", action: scripted(), durable: true }),
  ] as const;
  at.write("say.ts", "console.log(2);\n");
  const now = await boundIn(at, { name: "say", action: scripted() });
  assert.notEqual(now.key, before[0].key);
  assert.notEqual(now.codeFiles["say.ts"], before[0].codeFiles["say.ts"]);
  const harness = await boundIn(at, { name: "say", action: scripted(), durable: true });
  assert.equal(harness.key, before[1].key);
  assert.notEqual(harness.codeFiles["say.ts"], before[1].codeFiles["say.ts"]);
});

test("a Python stage's key changes with a module that it imports, and with no other", async (t) => {
  const at = home(t);
  withoutPython(at);
  for (const file of ["say.py", "lib.py", "other.py"]) at.write(file, "print(1)\n");
  const plan = smallPlan({ name: "say", action: { run: { kind: "python", file: "say.py" } } });
  const ask = () => {
    const workspace = at.open();
    Object.assign(workspace.imports, { of: (script: string) => [script, "lib.py"] });
    return bind(plan.instances[0]!, { plan, results: [], workspace });
  };
  const before = await ask();
  assert.deepEqual(Object.keys(before.codeFiles), ["lib.py", "say.py"]);
  assert.deepEqual(before.parts.code, before.codeFiles);
  at.write("other.py", "print(2)\n");
  assert.equal((await ask()).key, before.key);
  at.write("lib.py", "print(2)\n");
  assert.notEqual((await ask()).key, before.key);
});

test("a module of a declared folder is in the keys of the stages that import it, and of no attempt", async (t) => {
  const at = home(t);
  at.write("pipelines/environments/python-path.txt", "shared\n");
  at.write("shared/library/__init__.py", "");
  at.write("shared/library/wanted.py", "x = 1\n");
  at.write("one.py", "from library import wanted\n");
  at.write("other.py", "import json\n");
  at.write("say.ts", "console.log(1);\n");
  at.write("package.json", '{"type": "module"}');
  const python = (file: string) => ({ run: { kind: "python", file } as const });
  const keys = async () => {
    const stages: SmallStage[] = [
      { name: "imports", action: python("one.py") },
      { name: "does-not", action: python("other.py") },
      { name: "attempt", action: scripted(), durable: true },
    ];
    return Promise.all(stages.map(async (stage) => (await boundIn(at, stage)).key));
  };
  const before = await keys();
  at.write("shared/library/wanted.py", "x = 2\n");
  const now = await keys();
  assert.notEqual(now[0], before[0]);
  assert.deepEqual(now.slice(1), before.slice(1));
});

test("a command's key holds the command and no code", async (t) => {
  const { parts, codeFiles } = await boundIn(home(t), { name: "say" });
  assert.deepEqual([parts.code, codeFiles], [{}, {}]);
  assert.deepEqual(parts.run, { kind: "command", command: ["fake", "say"] });
});

const declares = { action: { files: ["given/**"] } };

test("a dotfile in a declared folder changes the key of a stage and of an attempt", async (t) => {
  for (const durable of [false, true]) {
    const at = home(t);
    at.write("given/one.txt", "one");
    const before = await boundIn(at, { name: "say", durable, ...declares });
    at.write("given/.hidden", "two");
    assert.notEqual((await boundIn(at, { name: "say", durable, ...declares })).key, before.key);
  }
});

test("an executable bit changes the key of a stage and of an attempt, an empty folder that of an attempt only", async (t) => {
  const at = home(t);
  at.write("given/one.txt", "one");
  const both = async () => [
    (await boundIn(at, { name: "say", ...declares })).key,
    (await boundIn(at, { name: "say", durable: true, ...declares })).key,
  ];
  const first = await both();
  chmodSync(join(at.root, "given/one.txt"), 0o755);
  const second = await both();
  mkdirSync(join(at.root, "given/empty"));
  const third = await both();
  assert.notEqual(second[0], first[0]);
  assert.equal(third[0], second[0]);
  assert.equal(new Set([first[1], second[1], third[1]]).size, 3);
});

test("a comment or a docstring of a declared Python file changes the key, also where the stage imports it", async (t) => {
  const at = home(t);
  const python: SmallStage = {
    name: "say",
    action: { run: { kind: "python", file: "say.py" }, files: ["say.py", "given/**"] },
  };
  const keys = async () => [
    (await boundIn(at, { ...python, action: { ...python.action, files: [] } })).key,
    (await boundIn(at, python)).key,
  ];
  at.write("say.py", "def word():\n    return 1\n");
  at.write("given/words.py", "x = 1\n");
  const plain = await keys();
  at.write("say.py", 'def word():\n    """One."""\n    return 1\n');
  const documented = await keys();
  at.write("given/words.py", "x = 1  # one\n");
  const commented = await keys();
  assert.equal(new Set([plain[0], documented[0], commented[0]]).size, 1, "nothing reads the text");
  assert.equal(new Set([plain[1], documented[1], commented[1]]).size, 3);
});

const sensitive = { action: { hostSensitive: true } };
const onGpu = { execution: { resources: { gpus: 1 } } };

test("only a host-sensitive stage's key holds the machine", async (t) => {
  const at = home(t);
  assert.equal((await boundIn(at, { name: "say" })).parts.host, null);
  assert.deepEqual((await boundIn(at, { name: "say", ...sensitive })).parts.host, hostFacts());
});

test("a GPU stage's key holds the device kind; only a host-sensitive stage's key names the machine", async (t) => {
  const at = home(t);
  assert.deepEqual((await boundIn(at, { name: "say", ...onGpu })).parts.host, { device: "gpu" });
  assert.deepEqual((await boundIn(at, { name: "say", ...sensitive, ...onGpu })).parts.host, {
    ...hostFacts(),
    device: "gpu",
  });
});

test("what Python computes in an environment has the processor's class in its key, and an attempt has not", async (t) => {
  const at = home(t);
  withoutPython(at);
  at.write("ml.lock", "torch==1\n");
  const hostOf = async (more: Partial<SmallStage>) =>
    (await boundIn(at, builder, { name: "in", environment: true, ...more })).parts.host;
  assert.deepEqual(await hostOf({}), { processor: processorClass() });
  assert.deepEqual(await hostOf(onGpu), { processor: processorClass(), device: "gpu" });
  assert.equal(await hostOf({ durable: true }), null);
});

const builder: SmallStage = {
  name: environmentStage,
  gives: {},
  action: { params: { lock: "ml.lock" }, hostSensitive: true },
};

test("the key of a service is in its user's key, without facts of the host's processor or what it holds", async (t) => {
  const at = home(t);
  withoutPython(at);
  at.write("ml.lock", "torch==1\n");
  const service = { health: "/health", readyMs: 1, restartsMax: 0 };
  const keyWith = async (more: Partial<SmallStage>) => {
    const served = { name: "model", environment: true, gives: {}, ...more } as const;
    const execution = { ...more.execution, service };
    const plan = smallPlan(builder, { ...served, execution }, { name: "ask" });
    const [, model, user] = plan.instances;
    user!.uses = { name: "model", from: 1 };
    const { parts } = await bind(model!, { plan, results: [], workspace: at.open() });
    assert.equal(parts.host?.processor, undefined);
    const asked = await bound({ home: at, plan });
    assert.deepEqual(asked.parts.services, { model: actionKey(parts) });
    return asked.key;
  };
  const before = await keyWith({});
  assert.equal(await keyWith({ execution: { resources: { cpus: 7 }, limits: { memoryBytes: 1 } } }), before);
  assert.notEqual(await keyWith({ action: { env: { QUANTIZATION: "int8" } } }), before);
  assert.notEqual(await keyWith(onGpu), before, "a GPU computes other texts");
});

test("an environment's key holds its lock file and the platform, not the machine", async (t) => {
  const at = home(t);
  withoutPython(at);
  at.write("ml.lock", "torch==1\n");
  const before = await boundIn(at, builder);
  assert.equal(before.key, before.environment?.key);
  assert.equal(before.environment?.lock, "ml.lock");
  assert.deepEqual(before.parts.host, hostKind());
  at.write("ml.lock", "torch==2\n");
  const now = await boundIn(at, builder);
  assert.notEqual(now.key, before.key);
  assert.notEqual(now.environment?.path, before.environment?.path);
});

test("another environment lock changes the key of the stages that run in it only", async (t) => {
  const at = home(t);
  withoutPython(at);
  at.write("ml.lock", "torch==1\n");
  const [inside, outside]: SmallStage[] = [{ name: "in", environment: true }, { name: "out" }];
  const before = [await boundIn(at, builder, inside!), await boundIn(at, builder, outside!)] as const;
  assert.equal(before[0].parts.environment, (await boundIn(at, builder)).key);
  assert.equal(before[1].environment, undefined);
  at.write("ml.lock", "torch==2\n");
  assert.notEqual((await boundIn(at, builder, inside!)).key, before[0].key);
  assert.equal((await boundIn(at, builder, outside!)).key, before[1].key);
});

const contained = (image: string) => ({ execution: { executor: "docker", image } });

test("a container image is in the key, and the host's own programs are not", async (t) => {
  const at = home(t);
  const image = `debian@sha256:${digestOf("a")}`;
  assert.equal((await boundIn(at, { name: "say", ...contained(image) })).parts.image, image);
  const here = await boundIn(at, { name: "say" });
  const inHost = await boundIn(at, { name: "say", execution: { executor: "docker" } });
  assert.equal(inHost.key, here.key);
});

test("a dotfile next to a Dockerfile is in an attempt's key", async (t) => {
  const at = home(t);
  at.write("images/tools/Dockerfile", "FROM scratch\n");
  const one = { name: "say", durable: true, ...contained("images/tools/Dockerfile") };
  const before = await boundIn(at, one);
  at.write("images/tools/.hidden", "x");
  const now = await boundIn(at, one);
  assert.notEqual(now.key, before.key);
});
