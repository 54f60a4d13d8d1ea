// A stage that wants more GPUs than the host has is refused before anything runs. A fake nvidia-smi replaces the
// host's driver, so the tests give the same result on every host.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { counted, type Lab, lab, outcomes, summary } from "./support/lab.ts";
import { fakeGpus, fakeNvidia } from "./support/machines/fake-nvidia.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

/** count → train (wants GPUs) → serve; `cpu` wants none, `small` one. */
function define(at: Lab): void {
  at.define({
    axes: { seed: [1, 2] },
    profiles: {
      large: { default: true },
      small: { stages: { train: { resources: { gpus: 1 } } } },
      cpu: { resources: { gpus: 0 } },
    },
    stages: {
      count: { command: counted(at, "count", "echo 1 > {outputs.text}"), gives: { text: "file" } },
      train: {
        each: ["seed"],
        needs: ["count.text"],
        command: counted(at, "train-{seed}", "echo {seed} > {outputs.model}"),
        gives: { model: "file" },
        resources: { gpus: 2 },
      },
      serve: {
        each: ["seed"],
        needs: ["train.model"],
        command: counted(at, "serve-{seed}"),
        resources: { gpus: 1 },
      },
    },
  });
}

/** The environment of a host whose driver lists `gpus` GPUs, and one whose driver fails. */
function host(at: Lab, gpus: number): Record<string, string> {
  const { bin, fail } = fakeNvidia(join(at.outside, `host-${gpus}`), fakeGpus(gpus));
  if (gpus === 0) fail("cannot communicate with the driver", 9);
  return { PATH: `${bin}:${process.env.PATH}`, MLRB_GPU_LEASES: join(at.outside, "leases") };
}

/** The number of calls of the fake driver. */
function asked(at: Lab, gpus: number): number {
  const file = join(at.outside, `host-${gpus}`, "asked");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

const on = (at: Lab, gpus: number, ...args: string[]) =>
  at.pipeline([args[0]!, at.name, "--root", at.root, ...args.slice(1)], { env: host(at, gpus) });

test("on a host whose fake driver lists no GPU, a run that wants one is refused before anything runs", async (t) => {
  const at = lab(t, repository);
  define(at);
  const said = await on(at, 0, "run");
  assert.equal(said.code, 2);
  assert.equal(said.stdout, "");
  assert.equal(
    said.stderr,
    `too-few-gpus: "train" needs 2 GPUs, "serve" needs 1 GPU; this host has none (nvidia-smi reports: cannot communicate with the driver)
  help: a profile that this host can run: --profile cpu

1 problem; nothing was run
`,
  );
  const json = await on(at, 0, "run", "--json");
  assert.equal(json.code, 2);
  assert.deepEqual(json.lines, [
    {
      event: "problem",
      code: "too-few-gpus",
      message:
        '"train" needs 2 GPUs, "serve" needs 1 GPU; this host has none (nvidia-smi reports: cannot communicate with the driver)',
      help: "a profile that this host can run: --profile cpu",
    },
  ]);
  assert.equal(asked(at, 0), 2, "once a run");
  assert.deepEqual(at.executions(), {}, "nothing was executed");
});

test("on a host whose fake driver lists one GPU, only stages that want more are refused", async (t) => {
  const at = lab(t, repository);
  define(at);
  const said = await on(at, 1, "run");
  assert.equal(said.code, 2);
  assert.match(said.stderr, /^too-few-gpus: "train" needs 2 GPUs; this host has 1 \(nvidia-smi -L\)\n/);
  assert.match(said.stderr, /profiles that this host can run: --profile small, --profile cpu\n/);
  assert.equal((await on(at, 1, "run", "--json", "--profile", "small")).code, 0);
  assert.equal(at.executions()["train-2"], 1);
});

test("on a host with enough fake GPUs everything runs, and a host without GPUs reuses it", async (t) => {
  const at = lab(t, repository);
  define(at);
  assert.equal((await on(at, 2, "run", "--json")).code, 0);
  // an edit that reruns no GPU stage, so that the no-op fast path is not taken
  repository.edit(`pipelines/${at.name}.yaml`, '"count": {', '"more": { "command": "true" }, "count": {');
  const again = await on(at, 0, "run", "--json");
  assert.equal(again.code, 0, again.stderr);
  assert.deepEqual(summary(again).outcomes, { succeeded: 1, reused: 5, failed: 0, skipped: 0, cancelled: 0 });
  // of two stages that want GPUs, the one that would run is named
  repository.edit(`pipelines/${at.name}.yaml`, "echo serve-{seed}", "echo serving-{seed}");
  const changed = await on(at, 0, "run");
  assert.equal(changed.code, 2);
  assert.match(changed.stderr, /^too-few-gpus: "serve" needs 1 GPU; this host has none/);
});

test("a stage that is not selected, or wants no GPU, is not refused and does not query the fake driver", async (t) => {
  const at = lab(t, repository);
  define(at);
  assert.equal((await on(at, 0, "run", "--json", "--only", "count")).code, 0);
  assert.equal((await on(at, 0, "run", "--json", "--profile", "cpu")).code, 0);
  assert.equal(asked(at, 0), 0);
  assert.deepEqual(at.executions(), { count: 1, "serve-1": 1, "serve-2": 1, "train-1": 1, "train-2": 1 });
});

test("a plan on a host without fake GPUs lists what would run and that it would be refused", async (t) => {
  const at = lab(t, repository);
  define(at);
  const json = await on(at, 0, "plan", "--json");
  assert.equal(json.code, 0);
  assert.equal(Object.keys(outcomes(json)).length, 5);
  assert.equal(json.lines.at(-1)!.event, "summary");
  const notes = json.lines.filter(({ event }) => event === "note");
  assert.deepEqual(
    notes.map(({ code }) => code),
    ["too-few-gpus"],
  );
  const said = await on(at, 0, "plan");
  assert.equal(said.code, 0);
  assert.ok(
    said.stdout.includes(`a run would be refused: ${notes[0]!.message}\n  help: ${notes[0]!.help}\n`),
    said.stdout,
  );
  const enough = await on(at, 2, "plan");
  assert.doesNotMatch(enough.stdout, /refused/);
});
