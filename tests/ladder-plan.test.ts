// What the ladder plans: levels of the tasks that declare them, with the paper's conditions.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Selection } from "@mlrb/core/plan/resolve-axes";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { reportParams } from "@mlrb/report/read/report-params";
import { agentBounds } from "../runners/cli/src/gates/dollar-bounds.ts";
import { executorNames } from "../runners/cli/src/run/executors.ts";

const files = () => sourceFiles(join(import.meta.dirname, ".."));

function planOf(pipeline: string, profile: string, set: Selection, sources = files()) {
  const request = { file: `pipelines/${pipeline}.yaml`, profile, set, executor: undefined };
  const loaded = loadPlan(request, sources, executorNames);
  assert.ok("plan" in loaded, JSON.stringify(loaded).slice(0, 1000));
  return loaded.plan;
}

const attemptsOf = ({ instances }: ReturnType<typeof planOf>) =>
  instances.filter(({ stage }) => stage.durable);

test("the paper's ladder of time: every task with a 24th, a sixth, half and all of its day", () => {
  const attempts = attemptsOf(planOf("ladder", "paper", { agent: ["gpt-4o"] }));
  assert.equal(attempts.length, 7 * 4 * 5);
  const hours = attempts.map(({ action }) => action.budget.timeMs! / 3_600_000);
  assert.deepEqual(
    [...new Set(hours.map((one) => Math.round(one)))].sort((a, b) => a - b),
    [1, 4, 12, 24],
  );
  const [bound] = agentBounds(attempts, []) as { gpuHours: number }[];
  assert.ok(Math.abs(bound!.gpuHours - 7 * 5 * 41) < 2, `${bound!.gpuHours} GPU hours`);
});

test("a task's file is read once for all its levels", () => {
  const read: string[] = [];
  const all = files();
  const seen = (path: string) => {
    read.push(path);
    return all.read(path);
  };
  planOf("ladder", "paper", { agent: ["gpt-4o"] }, { ...all, read: seen });
  assert.equal(read.filter((path) => path === "tasks/baby-lm/task.yaml").length, 1);
});

test("an attempt at the whole task is that of full-benchmark", () => {
  const set = { agent: ["gpt-4o"], task: ["baby-lm"], seed: ["1"] };
  const [whole] = attemptsOf(planOf("ladder", "paper", { ...set, level: ["whole"] }));
  const [paper] = attemptsOf(planOf("full-benchmark", "paper", set));
  assert.deepEqual([whole!.id, whole!.action], [paper!.id, paper!.action]);
});

test("levels of memory, data, base model and help are of the tasks that declare them", () => {
  const tasksWith = (level: string, profile = "paper") => [
    ...new Set(
      attemptsOf(planOf("ladder", profile, { level: [level], seed: ["1"] })).map(({ axes }) => axes.task),
    ),
  ];
  assert.deepEqual(tasksWith("memory-1400mb"), ["edge-llm-compression@memory-1400mb"]);
  assert.deepEqual(tasksWith("data-10th"), [
    "baby-lm@data-10th",
    "mini-pile@data-10th",
    "edge-llm-training@data-10th",
  ]);
  assert.deepEqual(tasksWith("base-410m"), ["edge-llm-compression@base-410m"]);
  assert.deepEqual(tasksWith("memory-250mb", "smoke"), ["edge-llm-training@memory-250mb"]);
  assert.deepEqual(tasksWith("report", "smoke"), ["baby-lm@report", "mini-pile@report"]);
  assert.throws(() => tasksWith("base-410m", "smoke"), /no task here has a level/, "smoke has no such model");
});

test("the report takes the levels, and shows no published value beside them", () => {
  const { instances } = planOf("ladder", "paper", { level: ["time-half", "whole"], seed: ["1"] });
  const params = reportParams(instances.find(({ stage }) => stage.name === "report")!.action.params);
  assert.equal(params.levels.length, 7);
  assert.equal(params.published("edge-llm-compression", "mmlu").length, 2);
  assert.equal(params.published("edge-llm-compression@time-half", "mmlu").length, 0);
  assert.deepEqual([params.isWhole("baby-lm"), params.isWhole("baby-lm@time-half")], [true, false]);
});

test("a base model of a level is downloaded, given and scored unchanged", () => {
  const { instances } = planOf("ladder", "paper", { level: ["base-410m"], seed: ["1"] });
  const sources = instances.filter(({ stage }) => stage.name === "download").map(({ axes }) => axes.source);
  assert.deepEqual(sources.sort(), ["mmlu", "pythia-410m", "wikitext-2"]);
});
