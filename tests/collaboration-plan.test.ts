// What the pipeline of teams plans: agents with other limits, their cost, and what stays as in the full benchmark.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Selection } from "@mlrb/core/plan/resolve-axes";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { estimateFrom, isPaid } from "@mlrb/local/records/estimate-cost";
import { reportParams } from "@mlrb/report/read/report-params";
import { agentBounds } from "../runners/cli/src/gates/dollar-bounds.ts";
import { executorNames } from "../runners/cli/src/run/executors.ts";

function planOf(pipeline: string, profile: string, set: Selection) {
  const request = { file: `pipelines/${pipeline}.yaml`, profile, set, executor: undefined };
  const loaded = loadPlan(request, sourceFiles(join(import.meta.dirname, "..")), executorNames);
  assert.ok("plan" in loaded, JSON.stringify(loaded).slice(0, 1000));
  return loaded.plan;
}

type Plan = ReturnType<typeof planOf>;
const attemptsOf = ({ instances }: Plan) => instances.filter(({ stage }) => stage.durable);
const attemptBy = (plan: Plan, agent: string) => attemptsOf(plan).find(({ axes }) => axes.agent === agent)!;
const reportOf = ({ instances }: Plan) =>
  reportParams(instances.find(({ stage }) => stage.name === "report")!.action.params);

test("in smoke each side of each arm is planned, without a network or a paid call", () => {
  const plan = planOf("collaboration", "smoke", { task: ["baby-lm"] });
  const agents = new Set(attemptsOf(plan).map(({ axes }) => String(axes.agent)));
  const { arms } = reportOf(plan).together!;
  for (const { team, solo, bestOf, k } of Object.values(arms)) {
    for (const agent of [team, solo, bestOf]) assert.ok(agents.has(agent), agent);
    assert.ok(reportOf(plan).bestOf.includes(k));
    assert.ok(attemptsOf(plan).filter(({ axes }) => axes.agent === bestOf).length >= k, "a group of k");
  }
  assert.ok(
    attemptsOf(plan).every(({ action, execution }) => !isPaid(action) && execution.network === "none"),
  );
});

test("sides of an arm have equal time, equal machine hours, or equal dollars", () => {
  const plan = planOf("collaboration", "smoke", { task: ["baby-lm"] });
  const { arms } = reportOf(plan).together!;
  const budget = (agent: string) => attemptBy(plan, agent).action.budget;
  const hours = (agent: string) => budget(agent).timeMs! * (budget(agent).machines ?? 1);
  const wall = arms["wall-time"]!;
  for (const agent of [wall.solo, wall.bestOf]) assert.equal(budget(agent).timeMs, budget(wall.team).timeMs);
  assert.equal(hours(wall.solo), hours(wall.team));
  assert.equal(wall.k * hours(wall.bestOf), hours(wall.team));
  const shared = arms["gpu-hours"]!;
  assert.equal(hours(shared.solo), hours(shared.team));
  assert.equal(shared.k * hours(shared.bestOf), hours(shared.team));
  const { team, solo, bestOf, k } = arms.dollars!;
  assert.equal(budget(solo).dollars, budget(team).dollars);
  assert.equal(k * budget(bestOf).dollars!, budget(team).dollars);
  assert.equal(budget(team).machineDollarsPerHour, 2.5);
});

test("an attempt without an allowance is that of full-benchmark", () => {
  const set = { agent: ["script-strong"], task: ["baby-lm"], seed: ["1"] };
  const [own] = attemptsOf(planOf("collaboration", "smoke", set));
  const [full] = attemptsOf(planOf("full-benchmark", "smoke", set));
  assert.deepEqual([own!.id, own!.action], [full!.id, full!.action]);
});

test("the paper's plan counts k GPUs and k times the time, and every member's calls", () => {
  const set = { model: ["openai/gpt-4o-2024-08-06"], task: ["baby-lm"], seed: ["1"] };
  const plan = planOf("collaboration", "paper-teams", set);
  const hours = (agent: string) => estimateFrom(attemptBy(plan, agent), []).gpuHours;
  const called = (preset: string, allowance = "") => `${preset}@openai:gpt-4o-2024-08-06${allowance}`;
  assert.deepEqual(
    ["", "+two-machines", "+twice-time", "+purse", "+half-purse"].map((one) =>
      hours(called("any-react", one)),
    ),
    [24, 48, 48, 80, 40],
  );
  const team = attemptBy(plan, called("any-team", "+two-machines"));
  assert.equal(hours(called("any-team", "+two-machines")), 48);
  assert.deepEqual([team.execution.resources.gpus, team.execution.resources.cpus], [2, 24]);
  assert.deepEqual(team.execution.resources.pools, { "api:openai": 1 });
  assert.deepEqual(team.action.secrets, ["OPENAI_API_KEY"]);
  const bounds = agentBounds([attemptBy(plan, called("any-react")), team], []);
  const [solo, both] = bounds as { dollars: number }[];
  assert.equal(both!.dollars, 2 * solo!.dollars, "each member may make all its calls");
});

test("the paper's own profile plans chosen agents with an allowance", () => {
  const agents = ["any-team+two-machines", "any-react"];
  const plan = planOf("collaboration", "paper", { agent: agents, model: ["openai/m"], task: ["baby-lm"] });
  assert.equal(attemptsOf(plan).length, 10);
});
