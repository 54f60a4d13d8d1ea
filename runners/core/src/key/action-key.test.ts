import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeyParts } from "@mlrb/formats/stage/action";
import { loadPlan, type PlanRequest } from "../plan/load-plan.ts";
import type { Instance } from "../plan/plan.ts";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { actionKey, type BoundInputs, keyParts, reachedNetwork } from "./action-key.ts";
import { changes, type Reason, reasonWords } from "./reasons.ts";

const file = "pipelines/test.yaml";
const text = `formatVersion: 1
name: test
title: A title
axes: { task: [reading], agent: [basic, idle], seed: [1, 2] }
params: { data: smoke }
profiles: { smoke: { default: true }, copy: { limits: { time: 9m }, resources: { cpus: 2 } } }
stages:
  data: { each: [task], script: steps/a.ts, gives: { public: dir } }
  score:
    each: [task, agent, seed]
    keyed: [task]
    script: steps/b.ts
    needs: [data.public]
    params: { data: "{params.data}", unit: 5 }
    env: { MODE: fast }
    secrets: [HF_TOKEN]
    files: ["steps/*.py"]
    budget: { time: 10m }
    limits: { time: 30m }
    resources: { cpus: 1, memory: 1GiB }
    gives: { score: file }
`;
const bound: BoundInputs = {
  code: { "steps/b.ts": "c0de" },
  files: { "steps/measure.py": "f11e" },
  inputs: { public: "da7a" },
  environment: null,
  host: null,
};

function parts(
  changed: string = text,
  more: {
    request?: Partial<PlanRequest>;
    bound?: Partial<BoundInputs>;
    id?: string;
    files?: Record<string, string>;
  } = {},
): KeyParts {
  const sources = memorySources({ ...repository, [file]: changed, ...more.files });
  const result = loadPlan({ file, ...more.request }, sources, ["local", "docker"]);
  if ("problems" in result) throw new Error(result.problems.map(({ message }) => message).join("\n"));
  const id = more.id ?? "score[task=reading,agent=basic,seed=1]";
  const instance = result.plan.instances.find((one) => one.id === id);
  assert(instance, `no ${id}`);
  return keyParts(instance, { ...bound, ...more.bound });
}

const key = (...from: Parameters<typeof parts>) => actionKey(parts(...from));

function replaced(from: string, to: string): string {
  assert(text.includes(from), from);
  return text.replace(from, to);
}

test("settings that cannot change a result are not in its key", () => {
  const same: Record<string, string> = {
    limits: key(replaced("limits: { time: 30m }", "limits: { time: 31m }")),
    resources: key(replaced("memory: 1GiB", "memory: 2GiB, gpus: 3")),
    pools: key(
      replaced(
        "resources: { cpus: 1, memory: 1GiB }",
        "resources: { cpus: 1, memory: 1GiB, pools: { api: 1 } }",
      ).replace("profiles:", "pools: { api: 2 }\nprofiles:"),
    ),
    "the network": key(replaced("limits: { time: 30m }", "limits: { time: 30m }\n    network: none")),
    secrets: key(replaced("[HF_TOKEN]", "[HF_TOKEN, OTHER]")),
    title: key(replaced("A title", "Another")),
    "the profile's name": key(replaced("copy:", "other:"), { request: { profile: "other" } }),
    "what a profile sets besides parameters": key(text, { request: { profile: "copy" } }),
    "the executor": key(text, { request: { executor: "docker" } }),
    "axes that it is blind to": key(text, { id: "score[task=reading,agent=idle,seed=2]" }),
    "an output's privacy": key(
      replaced("gives: { score: file }", "gives: { score: { file: score, private: true } }"),
    ),
    "the order of keys": key(
      replaced('{ data: "{params.data}", unit: 5 }', '{ unit: 5, data: "{params.data}" }'),
    ),
    "another stage before it": key(replaced("stages:\n", "stages:\n  first: { script: steps/a.ts }\n")),
    "what a task says that is not selected": key(text, {
      files: {
        "tasks/reading/task.yaml": repository["tasks/reading/task.yaml"]!.replace("The task", "A task"),
      },
    }),
  };
  for (const [what, other] of Object.entries(same)) assert.equal(other, key(), what);
});

test("everything that can change a result changes its key", () => {
  const keys: Record<string, string> = {
    itself: key(),
    params: key(replaced("unit: 5", "unit: 6")),
    "a number and the text of it": key(replaced("unit: 5", 'unit: "5"')),
    "a parameter of the profile": key(
      replaced("smoke: { default: true }", "smoke: { default: true, params: { data: official } }"),
    ),
    env: key(replaced("MODE: fast", "MODE: slow")),
    budget: key(replaced("budget: { time: 10m }", "budget: { time: 11m }")),
    "names of outputs": key(replaced("gives: { score: file }", "gives: { scores: file }")),
    "kinds of outputs": key(replaced("gives: { score: file }", "gives: { score: dir }")),
    "the script": key(replaced("script: steps/b.ts", "script: steps/a.ts")),
    "keyed axes": key(replaced("keyed: [task]", "keyed: [task, seed]")),
    "another point of a keyed axis": key(replaced("keyed: [task]", "keyed: [task, seed]"), {
      id: "score[task=reading,agent=basic,seed=2]",
    }),
    code: key(text, { bound: { code: { "steps/b.ts": "0ther" } } }),
    files: key(text, { bound: { files: { "steps/measure.py": "0ther" } } }),
    "a file more": key(text, { bound: { files: { ...bound.files, "steps/more.py": "0ther" } } }),
    inputs: key(text, { bound: { inputs: { public: "0ther" } } }),
    "an input's name": key(text, { bound: { inputs: { other: "da7a" } } }),
    environment: key(text, { bound: { environment: "e" } }),
    host: key(text, { bound: { host: { platform: "linux" } } }),
    image: key(text, { bound: { image: "host:1" } }),
  };
  const seen = new Map<string, string>();
  for (const [what, one] of Object.entries(keys)) {
    assert.match(one, /^[0-9a-f]{64}$/);
    assert.equal(seen.get(one), undefined, `${what} is keyed`);
    seen.set(one, what);
  }
});

const durably = (pipeline = text) =>
  pipeline.replace("budget: { time: 10m }", "durable: true\n    budget: { time: 10m }");

test("keys stay: another key would lose every stored attempt", () => {
  assert.equal(key(), "7eb091fcd4378b4060a123a8810c1a36491e510dafea52ef18290a0845b79e3c");
  assert.equal(key(durably()), "d52d6f5dd50a2f4282965cda7c9a624ab12f408e7f33e8e4586eb7a7d9a57734");
});

test("an attempt is keyed by the task and the seed that its agent sees, whatever `keyed` says", () => {
  const other = { id: "score[task=reading,agent=basic,seed=2]" };
  assert.notEqual(key(durably(), other), key(durably()));
  assert.deepEqual(
    changes(parts(durably(), other), parts(durably()), () => undefined),
    [{ kind: "env-changed", names: ["MLRB_SEED"] }],
  );
});

test("a parameter that is not set is not in an attempt's key", () => {
  const added = replaced("unit: 5 }", "unit: 5, added: null }");
  assert.equal(key(durably(added)), key(durably()));
  assert.notEqual(key(added), key(), "of other stages it is");
});

test("a cap on GPU memory is another condition of an attempt, and without one its key is as before", () => {
  const onGpu = durably()
    .replace("memory: 1GiB", "memory: 1GiB, gpus: 1")
    .replace("durable:", "untrusted: true\n    durable:");
  const capped = onGpu.replace("gpus: 1", "gpus: 1, gpuMemory: 40GB");
  assert.equal(key(onGpu), key(durably()));
  assert.deepEqual(
    changes(parts(capped), parts(onGpu), () => undefined),
    [{ kind: "env-changed", names: ["MLRB_GPU_MEMORY_BYTES"] }],
  );
});

test("a network that an agent reaches is another condition of its attempt, and no part of another stage's key", () => {
  const within = (network: string, from = durably()) =>
    parts(from.replace("resources: { cpus: 1", `network: ${network}\n    resources: { cpus: 1`)).network;
  assert.equal(within("full"), "full");
  assert.equal(reachedNetwork({ execution: { network: "hub" } } as Instance), "hub");
  assert.equal(within("none"), undefined);
  assert.equal(within("full", text), undefined);
});

test("what starts a durable stage is in its key only if it is a command", () => {
  const command = durably().replace("script: steps/b.ts", "command: make all");
  assert.deepEqual(parts(durably()).run, { kind: "script", file: "" });
  assert.notEqual(key(command.replace("make all", "make one")), key(command));
});

test("the harness of a durable stage is not in its key, and everything else is", () => {
  const durable = replaced("budget: { time: 10m }", "durable: true\n    budget: { time: 10m }");
  assert.equal(key(durable, { bound: { code: { "steps/b.ts": "0ther" } } }), key(durable));
  assert.equal(key(durable.replace("script: steps/b.ts", "script: steps/a.ts")), key(durable));
  assert.notEqual(key(durable, { bound: { files: {} } }), key(durable));
  assert.notEqual(key(durable.replace("unit: 5", "unit: 6")), key(durable));
});

test("the parts of a key survive a round trip through JSON", () => {
  assert.equal(actionKey(JSON.parse(JSON.stringify(parts())) as KeyParts), key());
});

test("a number that JSON cannot hold has no key", () => {
  assert.throws(() => actionKey({ ...parts(), params: { loss: Number.NaN } }), /loss is NaN/);
});

test("all changes since the last success are reported", () => {
  const now = parts();
  const changesFrom = (last: Partial<KeyParts>) =>
    changes({ ...now, ...last }, now, () => "data[task=reading]");
  assert.deepEqual(changesFrom({}), []);
  const reasons: [Partial<KeyParts>, Reason][] = [
    [{ run: { kind: "script", file: "old.ts" } }, { kind: "code-changed", file: "steps/b.ts" }],
    [{ code: { "steps/b.ts": "old" } }, { kind: "code-changed", file: "steps/b.ts" }],
    [{ files: {} }, { kind: "file-changed", file: "steps/measure.py" }],
    [{ inputs: { public: "old" } }, { kind: "input-changed", input: "public", stage: "data[task=reading]" }],
    [{ params: { ...now.params, unit: 6 } }, { kind: "params-changed", names: ["unit"] }],
    [{ axes: { task: "writing" } }, { kind: "params-changed", names: ["task"] }],
    [{ outputs: {} }, { kind: "outputs-changed" }],
    [{ env: { MODE: "fast", MORE: "1" } }, { kind: "env-changed", names: ["MORE"] }],
    [{ budget: {} }, { kind: "budget-changed" }],
    [{ environment: "old" }, { kind: "environment-changed" }],
    [{ host: { platform: "linux" } }, { kind: "host-changed" }],
    [{ image: "host:1" }, { kind: "image-changed" }],
    [{ network: "hub" }, { kind: "network-changed" }],
    [{ services: { model: "old" } }, { kind: "service-changed", names: ["model"] }],
  ];
  for (const [last, reason] of reasons) assert.deepEqual(changesFrom(last), [reason]);
  const all = changesFrom(Object.assign({}, ...reasons.map(([last]) => last)) as Partial<KeyParts>);
  assert.deepEqual(new Set(all.map(({ kind }) => kind)), new Set(reasons.map(([, { kind }]) => kind)));
});

test("every reason has its own words", () => {
  const every: { [Kind in Reason["kind"]]: Reason & { kind: Kind } } = {
    unchanged: { kind: "unchanged" },
    "not-needed": { kind: "not-needed" },
    "same-action": { kind: "same-action", stage: "score[seed=1]" },
    "first-run": { kind: "first-run" },
    "code-changed": { kind: "code-changed", file: "a.ts" },
    "file-changed": { kind: "file-changed", file: "a.txt" },
    "input-changed": { kind: "input-changed", input: "data", stage: "data" },
    "params-changed": { kind: "params-changed", names: ["a", "b"] },
    "outputs-changed": { kind: "outputs-changed" },
    "env-changed": { kind: "env-changed", names: ["MODE"] },
    "budget-changed": { kind: "budget-changed" },
    "environment-changed": { kind: "environment-changed" },
    "environment-missing": { kind: "environment-missing" },
    "image-changed": { kind: "image-changed" },
    "network-changed": { kind: "network-changed" },
    "service-changed": { kind: "service-changed", names: ["model"] },
    used: { kind: "used" },
    lost: {
      kind: "lost",
      since: "2026-01-31T10:00:00.000Z",
      cause: "its supervisor was killed",
      folder: "lost/a",
    },
    "goes-on": { kind: "goes-on", since: "2026-01-31T10:00:00.000Z" },
    "host-changed": { kind: "host-changed" },
    "output-missing": { kind: "output-missing" },
    "never-succeeded": { kind: "never-succeeded" },
    stale: { kind: "stale", record: "r", changed: [{ kind: "budget-changed" }, { kind: "host-changed" }] },
    "stale-accepted": { kind: "stale-accepted", record: "r", why: "only wording" },
    remote: { kind: "remote", signedBy: "alice@lab" },
    imported: { kind: "imported", signedBy: null },
    undecided: { kind: "undecided", records: ["a".repeat(64)] },
    "cannot-start": { kind: "cannot-start", detail: "a.ts cannot be bundled\nmore" },
    thinned: { kind: "thinned", record: "r", input: "submission" },
    "upstream-stale": { kind: "upstream-stale", stage: "attempt" },
    "upstream-runs": { kind: "upstream-runs", stage: "data" },
  };
  const words = Object.values(every).map(reasonWords);
  assert.equal(new Set(words).size, words.length);
  assert.deepEqual(words, [
    "nothing it depends on changed",
    "nothing that runs needs it",
    "the same action as score[seed=1]",
    "first run",
    "code changed: a.ts",
    "file changed: a.txt",
    "input changed: data of data",
    "parameters changed: a, b",
    "its declared outputs changed",
    "variables changed: MODE",
    "budget changed",
    "environment changed",
    "environment not built here",
    "another image or sandbox",
    "its programs reach another network",
    "service changed: model",
    "a stage that runs uses it",
    "lost: the attempt started 2026-01-31T10:00:00.000Z ended without a record (its supervisor was killed); it is in lost/a",
    "running since 2026-01-31T10:00:00.000Z, what started it has ended",
    "another machine",
    "its result is no longer in the store",
    "it has not succeeded yet",
    "stale: budget changed; another machine",
    "stale, accepted: only wording",
    "taken from the remote cache, signed by alice@lab",
    "imported, unsigned",
    "the imported record aaaaaaaaaaaa competes and is not used; `pnpm pipeline attempts use DIGEST` decides",
    "it cannot start: a.ts cannot be bundled; more",
    "thinned: the weights of attempt r were removed, so it cannot run again",
    "attempt is stale",
    "data runs first",
  ]);
});
