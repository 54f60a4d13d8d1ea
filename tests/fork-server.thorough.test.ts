// Scores forked from a process that has imported torch, transformers and lm-eval have the same bytes as scores
// from a fresh process, one after the other and in parallel: a random third of the scorers each time.
// MLRB_TEST_FORK_SCORERS names them (a,b; "all": every scorer).
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { pythonPath } from "@mlrb/kit/python-path";
import { localExecutor } from "@mlrb/local/process/local-executor";
import {
  answersScript,
  fixtures,
  makeAnswers,
  measureParams,
  scorerManifest,
  writeAdmission,
} from "../scorers/testing/measure.ts";
import { makeSubmissions, testPython } from "../scorers/testing/submissions.ts";
import { drawn } from "./support/test-seed.ts";

delete process.env.MLRB_TEST_FORK_SERVER; // the server itself is under test
const repository = resolve(import.meta.dirname, "..");
const temporary = mkdtempSync(join(tmpdir(), "mlrb-forked-"));
const executor = localExecutor(repository);
after(() => {
  executor.close!();
  removeFolder(temporary);
});

const all = readdirSync(join(repository, "scorers"))
  .filter((name) => existsSync(join(repository, "scorers", name, "scorer.yaml")))
  // scorers of speed or memory are never forked
  .filter((name) => !scorerManifest(name).hostSensitive);
const asked = process.env.MLRB_TEST_FORK_SCORERS;
const names = asked === undefined ? third(all) : asked === "all" ? all : asked.split(",");
console.log(`scorers with MLRB_TEST_FORK_SCORERS=${names.join(",")}`);

/** A random third, with one that judges written texts: another test needs it. */
function third(from: string[]): string[] {
  const [writer] = drawn(
    from.filter((name) => answersScript(name) !== undefined),
    1,
  );
  const others = from.filter((name) => name !== writer);
  return [writer!, ...drawn(others, Math.ceil(from.length / 3) - 1)];
}

let count = 0;

/** Runs a python stage as the runner would; returns its outputs' bytes and whether it was forked. */
async function carryOut(file: string, params: object, inputs: object, { preload }: { preload?: string }) {
  const work = join(temporary, `work-${++count}`);
  for (const part of ["tmp", "out/answers"]) mkdirSync(join(work, part), { recursive: true });
  const out = (name: string) => join(work, "out", name);
  const outputs = { score: out("score.json"), samples: out("samples.jsonl"), answers: out("answers") };
  const stage = {
    formatVersion: 1,
    stage: "test",
    axes: {},
    params,
    inputs,
    outputs,
    files: ["**"],
    budget: {},
  };
  writeFileSync(join(work, "stage.json"), JSON.stringify(stage));
  const log = join(work, "log");
  const python = testPython();
  const { ended } = executor.start({
    id: "test",
    key: "test",
    reads: [],
    writes: [],
    cpus: 1,
    gpus: [],
    token: `${process.pid}:fork-e2e:${count}:`,
    run: { kind: "python", file },
    root: repository,
    work,
    python,
    env: {
      PATH: `${dirname(python)}:${process.env.PATH}`,
      HOME: join(work, "tmp"),
      TMPDIR: join(work, "tmp"),
      LANG: "C.UTF-8",
      TZ: "UTC",
      OMP_NUM_THREADS: "1",
      PYTHONHASHSEED: "0",
      PYTHONUNBUFFERED: "1",
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONPATH: pythonPath(repository),
      MLRB_STAGE: join(work, "stage.json"),
    },
    inputs: {},
    outputs,
    log,
    limits: { timeMs: 300_000 },
    network: "none",
    ...(preload !== undefined && { preload }),
  });
  const begin = performance.now();
  const result = await ended;
  const said = existsSync(log) ? readFileSync(log, "utf8") : "";
  assert.ok(!said.includes("not forked"), said);
  const text = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");
  return {
    result,
    score: text(outputs.score),
    samples: text(outputs.samples),
    answers: text(join(outputs.answers, "answers.jsonl")),
    said,
    ms: performance.now() - begin,
  };
}

const preload = join(repository, "pipelines/environments/ml.preload.py");

test("a scorer gives the same bytes forked and fresh, twice and in parallel", async (t) => {
  const models = join(temporary, "submissions");
  mkdirSync(models);
  makeSubmissions(models);
  const admission = writeAdmission(temporary);
  assert.ok(names.length >= 2);
  const answers = new Map<string, string>();
  for (const name of names) {
    const made = makeAnswers(name, join(temporary, name), {
      submission: join(models, "tiny"),
      admission,
    });
    assert.equal(made.status, 0, made.said);
    answers.set(name, made.answers);
  }
  const score = (name: string, submission: string, more: { preload?: string }) => {
    const inputs = {
      submission: join(models, submission),
      private: fixtures(name),
      admission,
      answers: answers.get(name),
    };
    return carryOut(`scorers/${name}/measure.py`, measureParams(name), inputs, more);
  };
  const fresh: Awaited<ReturnType<typeof score>>[] = [];
  for (const name of names) fresh.push(await score(name, "tiny", {}));
  await score(names[0]!, "random-weights", { preload }); // another model first
  const once: typeof fresh = [];
  for (const name of [...names].reverse()) once.unshift(await score(name, "tiny", { preload }));
  const together = await Promise.all(names.map((name) => score(name, "tiny", { preload })));
  assert.ok(fresh.filter(({ result }) => result.kind === "succeeded").length >= 2);
  for (const [at, name] of names.entries()) {
    const { result, score, samples, said } = fresh[at]!;
    // a score that cannot be measured here (Lean 3 without its program) has no samples
    if (result.kind !== "succeeded") assert.equal(score + samples, "", said);
    else if (JSON.parse(score).kind !== "not-measured") assert.ok(samples.length > 0, said);
    for (const forked of [once[at]!, together[at]!]) {
      // if a program is missing here (Lean), both fail with the same message
      assert.deepEqual(forked.result, result, forked.said);
      if (result.kind === "failed") assert.equal(forked.said, said);
      assert.equal(forked.score, score, name);
      assert.equal(forked.samples, samples, name);
    }
    t.diagnostic(`${name}: fresh ${Math.round(fresh[at]!.ms)} ms, forked ${Math.round(once[at]!.ms)} ms`);
  }
});

test("a model generates the same bytes forked and fresh, whatever was generated before", async () => {
  const models = join(temporary, "submissions");
  const name = names.find((one) => answersScript(one) !== undefined)!;
  const write = (submission: string, more: { preload?: string }) => {
    const inputs = {
      submission: join(models, submission),
      private: fixtures(name),
      admission: writeAdmission(temporary),
    };
    return carryOut(relative(repository, answersScript(name)!), {}, inputs, more);
  };
  const fresh = await write("tiny", {});
  await write("random-weights", { preload });
  const forked = await write("tiny", { preload });
  assert.equal(fresh.result.kind, "succeeded", fresh.said);
  assert.ok(fresh.answers.split("\n").length > 2);
  assert.equal(forked.answers, fresh.answers);
});

test("torch starts as in a fresh process, random numbers differ between jobs, and no job changes the next", async () => {
  const script = join(temporary, "state.py");
  writeFileSync(
    script,
    `import json, os, random, sys
from pathlib import Path
import datasets, huggingface_hub, numpy, torch
stage = json.loads(Path(os.environ["MLRB_STAGE"]).read_text())
home = os.environ["HOME"]
assert str(datasets.config.HF_DATASETS_CACHE).startswith(home), datasets.config.HF_DATASETS_CACHE
assert str(huggingface_hub.constants.HF_HUB_CACHE).startswith(home)
state = {"threads": torch.get_num_threads(),
  "dtype": str(torch.get_default_dtype()), "grad": torch.is_grad_enabled(), "cuda": torch.cuda.is_initialized(), "hash": hash("word")}
Path(stage["outputs"]["score"]).write_text(json.dumps(state))
Path(stage["outputs"]["samples"]).write_text(json.dumps([torch.rand(1).item(), numpy.random.rand(), random.random()]))
torch.manual_seed(5); numpy.random.seed(5); random.seed(5)
torch.set_num_threads(2); torch.set_default_dtype(torch.float64); torch.set_grad_enabled(False); os.environ["HF_HOME"] = "/changed"
`,
  );
  const run = (more: { preload?: string }) => carryOut(relative(repository, script), {}, {}, more);
  const fresh = await run({});
  const forked = [await run({ preload }), await run({ preload })];
  for (const one of [fresh, ...forked]) assert.equal(one.result.kind, "succeeded", one.said);
  for (const one of forked) assert.equal(one.score, fresh.score);
  const drawn = [fresh, ...forked].map(({ samples }) => samples);
  const numbers = drawn.flatMap((text) => JSON.parse(text) as number[]);
  assert.equal(new Set(numbers).size, 9, "unseeded numbers were drawn twice");
});
