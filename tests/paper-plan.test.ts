// What the profile `paper` plans: the paper's conditions for every attempt, and an order that keeps a partial run
// fair.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { Selection } from "@mlrb/core/plan/resolve-axes";
import { startOrder } from "@mlrb/core/schedule/start-order";
import type { Expectation } from "@mlrb/formats/declared/task";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { reportParams } from "@mlrb/report/read/report-params";
import { parse } from "yaml";
import { agentBounds } from "../runners/cli/src/gates/dollar-bounds.ts";
import { executorNames } from "../runners/cli/src/run/executors.ts";

function planOf(profile: string, set: Selection = {}, skipChecks = false) {
  const loaded = loadPlan(
    { file: "pipelines/full-benchmark.yaml", profile, set, executor: undefined, skipChecks },
    sourceFiles(join(import.meta.dirname, "..")),
    executorNames,
  );
  assert.ok(!("problems" in loaded), JSON.stringify(loaded, undefined, 1).slice(0, 1000));
  return loaded.plan;
}

const plan = planOf("paper");
const attempts = plan.instances.filter(({ stage }) => stage.durable);

test("the paper's profile plans 70 attempts of 24 hours on one GPU each, with a network, on official data", () => {
  assert.equal(attempts.length, 7 * 2 * 5);
  for (const { id, action, execution } of attempts) {
    assert.equal(action.budget.timeMs, 24 * 3_600_000, id);
    assert.equal(execution.limits.timeMs, undefined, "only the budget ends it, so waits end nothing");
    assert.deepEqual(
      [execution.resources.gpus, execution.network, execution.executor],
      [1, "full", "docker"],
      id,
    );
  }
  const scores = plan.instances.filter(({ stage }) => stage.role === "score");
  assert.ok(scores.some(({ axes }) => axes.scorer === "mmlu"));
  assert.ok(scores.every(({ axes }) => axes.scorer !== "house-facts"));
});

test("its attempts start seed by seed, each agent once at each task before the next seed", () => {
  const places = startOrder(plan.pipeline, plan.instances);
  const order = [...attempts].sort((a, b) => places.get(a.index)! - places.get(b.index)!);
  for (const seed of [1, 2, 3, 4, 5]) {
    const block = order.slice((seed - 1) * 14, seed * 14).map(({ axes }) => axes);
    assert.deepEqual(new Set(block.map((axes) => axes.seed)), new Set([seed]));
    assert.equal(new Set(block.map(({ task, agent }) => `${task} ${agent}`)).size, 14);
    const agents = block.map(({ agent }) => String(agent)).join();
    assert.doesNotMatch(agents, /^(gpt-4o,){7}|^(claude-3-5-sonnet,){7}/, "agents are mixed");
  }
});

test("its attempts start after the check of their task, or after all checks, phi-2's by the recorded range", () => {
  const checkOf = ({ checks = [] }: Instance) => checks.map((index) => plan.instances[index]!);
  const checks = new Map(attempts.map((one) => [String(one.axes.task), checkOf(one)]));
  const all = plan.instances.filter(({ stage }) => stage.name === "reference-check");
  assert.equal(all.length, 5);
  for (const [task, own] of checks) {
    if (["llm-merging", "math-reasoning"].includes(task)) assert.deepEqual(own, all);
    else assert.deepEqual(own, [all.find(({ axes }) => axes.task === task)]);
  }
  const [compression] = checks.get("edge-llm-compression")!;
  const { identity } = (compression!.action.params.expected as Record<string, Record<string, Expectation>>)
    .mmlu!;
  assert.deepEqual([identity!.kind, identity!.low, identity!.high], ["range", 0.555, 0.577]);
  const smoke = planOf("smoke").instances;
  assert.ok(smoke.every((one) => one.checks === undefined && one.stage.name !== "reference-check"));
});

test("a check is no part of an attempt: its inputs and its action are the same without checks", () => {
  const without = planOf("paper", { task: ["baby-lm"] }, true);
  const { instances } = planOf("paper", { task: ["baby-lm"] });
  const own = instances.filter(({ stage }) => stage.durable);
  assert.equal(own.length, 10);
  for (const one of own) {
    const other = without.instances.find(({ id }) => id === one.id)!;
    assert.deepEqual(other.skippedChecks, ["reference-check[task=baby-lm]"]);
    assert.deepEqual(comparable(other, without), comparable(one, { instances } as Plan));
  }
});

test("an attempt is marked where no task of its plan declares a reference model, and never in smoke", () => {
  const marks = (...given: Parameters<typeof planOf>) =>
    new Set(planOf(...given).instances.flatMap(({ undeclaredChecks = [] }) => undeclaredChecks));
  const alone = { task: ["llm-merging", "math-reasoning"] };
  const both = ["reference-check[task=llm-merging]", "reference-check[task=math-reasoning]"];
  assert.deepEqual([...marks("paper", alone)], both);
  assert.deepEqual([...marks("paper-sealed", alone, true)], both);
  assert.deepEqual([...marks("paper")], [], "they wait for the checks of other tasks");
  assert.deepEqual([...marks("smoke", alone)], []);
  assert.deepEqual([...marks("docker-smoke", alone, true)], []);
});

test("paper-40gb plans the attempts of paper with a cap on GPU memory, and no other difference", () => {
  const capped = planOf("paper-40gb").instances;
  assert.equal(capped.length, plan.instances.length);
  for (const [at, { stage, action, execution }] of capped.entries()) {
    const { resources, ...more } = plan.instances[at]!.execution;
    const cap = stage.durable ? { gpuMemoryBytes: 40e9 } : {};
    assert.deepEqual(execution, { ...more, resources: { ...resources, ...cap } });
    if (stage.role !== undefined) assert.deepEqual(action, plan.instances[at]!.action, stage.name);
  }
});

for (const [profile, hours, count] of [
  ["h100-10h", 10, 70],
  ["shakedown", 0.5, 1],
] as const)
  test(`${profile} judges its ${count} attempts by the ${hours} hours that they have`, () => {
    const { instances } = planOf(profile);
    const timed = instances.filter(({ action }) => action.budget.timeMs !== undefined);
    assert.equal(timed.filter(({ stage }) => stage.durable).length, count);
    assert.equal(timed.filter(({ stage }) => stage.role === "verdict").length, count);
    assert.deepEqual(new Set(timed.map(({ action }) => action.budget.timeMs)), new Set([hours * 3_600_000]));
  });

/** What a stage does and may do. Of where it runs, only what the rehearsal does not replace. */
function comparable({ stage, action, execution, inputs, members }: Instance, { instances }: Plan) {
  const { executor: _container, resources, limits, image: _image, ...more } = execution;
  const { cpus: _cpus, memoryBytes: _memory, gpus: _gpus, ...pools } = resources;
  const { diskBytes: _disk, ...times } = limits;
  const ids = <Link extends { from: number }>(links: Link[]) =>
    links.map((link) => ({ ...link, from: instances[link.from]!.id }));
  return { stage, action, inputs: ids(inputs), members: ids(members), ...more, ...pools, ...times };
}

test("the rehearsal has every stage of the paper's first attempts, and only its machine and its title differ", () => {
  const rehearsal = planOf("rehearsal");
  const paper = planOf("paper", { agent: ["gpt-4o"], seed: ["1"] });
  const untitled = (plan: Plan) =>
    plan.instances.map((one) => {
      const { action, ...more } = comparable(one, plan);
      return { ...more, action: { ...action, params: { ...action.params, title: "" } } };
    });
  assert.deepEqual(
    rehearsal.instances.map(({ id }) => id),
    paper.instances.map(({ id }) => id),
  );
  const papers = untitled(paper);
  for (const [at, own] of untitled(rehearsal).entries())
    assert.deepEqual(own, papers[at], rehearsal.instances[at]!.id);
});

test("the report knows each task's rules on its data, and each agent's model and scaffold", () => {
  const params = (profile: string) => {
    const report = planOf(profile).instances.find(({ stage }) => stage.name === "report")!;
    return reportParams(report.action.params);
  };
  const paper = params("paper");
  assert.deepEqual(paper.agentFacts("gpt-4o")!.models, ["openai gpt-4o-2024-08-06"]);
  assert.equal(paper.agentFacts("claude-3-5-sonnet")!.scaffold, "supervisor-worker");
  const smoke = params("smoke");
  assert.deepEqual(
    [smoke.agentFacts("script-weak")!.kind, smoke.agentFacts("script-weak")!.models],
    ["command", []],
  );
  for (const { axes } of attempts) {
    const { disqualifying, notes } = paper.ruleCounts(String(axes.task))!;
    assert.ok(disqualifying > 0 && notes >= 0, String(axes.task));
  }
});

test("mini plans the six tasks with a mini text for 8 hours each, on the full tasks' data, rules and scorers", () => {
  const tasks = [
    "llm-efficiency",
    "baby-lm",
    "mini-pile",
    "llm-merging",
    "edge-llm-compression",
    "math-reasoning",
  ];
  const mini = planOf("mini");
  const paper = planOf("paper", { task: tasks });
  const own = mini.instances.filter(({ stage }) => stage.durable);
  assert.equal(own.length, 6 * 2 * 5);
  for (const { id, axes, action, execution } of own) {
    assert.equal(action.budget.timeMs, 8 * 3_600_000, id);
    assert.equal(action.params.prompt, `tasks/${axes.task}/framing-mini.md`);
    const { resources, network } = execution;
    assert.deepEqual([resources.gpus, network], [1, "full"]);
  }
  const named = (plan: Plan, stage: string) => plan.instances.filter((one) => one.stage.name === stage);
  for (const stage of ["data", "verdict", "identity", "memory", "kinship"])
    for (const [at, { action }] of named(mini, stage).entries())
      assert.deepEqual(action.params, named(paper, stage)[at]!.action.params, stage);
  const scored = (plan: Plan) => named(plan, "score").map(({ id }) => id);
  assert.deepEqual(scored(mini), scored(paper));
  const prompts = named(mini, "official-prompt").map(({ action }) => action.params);
  assert.deepEqual(
    prompts.map(({ name }) => String(name)).sort(),
    tasks.map((task) => `mini_${task.replaceAll("-", "_")}`).sort(),
  );
  const given = named(mini, "given-models").map(({ axes, action }) => [axes.task, action.params.models]);
  assert.deepEqual(given, [
    ["llm-efficiency", { base: "gpt2-xs" }],
    ["edge-llm-compression", { base: "gpt2-xs" }],
    ["math-reasoning", { base: "gpt2-xs" }],
  ]);
  assert.deepEqual(named(mini, "reference-check"), [], "no published model is a reference of mini");
});

test("both agents of the paper have a bound on dollars, and only the paper's own conditions name its cost", () => {
  const bounds = agentBounds(attempts, []);
  assert.ok(!("code" in bounds));
  assert.deepEqual(
    bounds.map(({ agent, attempts, gpuHours }) => [agent, attempts, gpuHours]),
    [
      ["gpt-4o", 35, 840],
      ["claude-3-5-sonnet", 35, 840],
    ],
  );
  assert.ok(bounds.every(({ dollars }) => dollars !== null && dollars > 35 * 43));
  assert.equal(plan.reported!.dollars, 43);
  for (const profile of ["mini", "h100-10h", "shakedown"])
    assert.equal(planOf(profile).reported, undefined, profile);
});

test("one-gpu plans one attempt of four hours at the paper's baby-lm, which waits for GPT-2's published perplexity", () => {
  const agent = ["any-react@openai:gpt-6.2-sol"];
  const small = planOf("one-gpu", { model: ["openai/gpt-6.2-sol"] });
  const paper = planOf("paper", { task: ["baby-lm"] });
  const named = (plan: Plan, stage: string) => plan.instances.filter((one) => one.stage.name === stage);
  const own = small.instances.filter(({ stage }) => stage.durable);
  assert.deepEqual(
    own.map(({ axes, action: { budget }, execution: { resources, network } }) => [
      ...[axes.agent, budget, resources.gpus, network],
    ]),
    [[agent[0], { timeMs: 4 * 3_600_000, dollars: 20 }, 1, "none"]],
  );
  for (const stage of ["data", "official-prompt", "verdict", "identity"]) {
    const [one, theirs] = [named(small, stage)[0]!, named(paper, stage)[0]!];
    assert.deepEqual(one.action.params, theirs.action.params, stage);
  }
  // the task has no memory rule
  assert.deepEqual([named(small, "memory"), named(paper, "memory")], [[], []]);
  assert.deepEqual(
    named(small, "download").map(({ axes }) => axes.source),
    ["babylm", "blimp", "gpt2", "wikitext-2"],
  );
  const [check] = named(small, "reference-check");
  assert.deepEqual(own[0]!.checks, [check!.index]);
  const published = parse(
    readFileSync(join(import.meta.dirname, "../scorers/agent-eval/reference-points.yaml"), "utf8"),
  );
  const { gpt2 } = (check!.action.params.expected as Record<string, Record<string, Expectation>>)[
    "agent-eval"
  ]!;
  assert.deepEqual([gpt2!.kind, gpt2!.value, gpt2!.within], ["published", published.gpt2.perplexity, 0.001]);
});
