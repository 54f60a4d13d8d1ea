import assert from "node:assert/strict";
import { test } from "node:test";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { loadPlan } from "./load-plan.ts";
import type { Selection } from "./resolve-axes.ts";

const pipeline = `formatVersion: 1
name: test
axes: { agent: [basic], seed: [1] }
params: { purse: 4 }
pools: { "api:*": 4 }
allowances:
  twice-time: { time: 2 }
  two-machines: { machines: 2 }
  purse: { dollars: "{params.purse}", time: 4 }
  pair: { dollars: 4, machines: 2 }
stages:
  attempt:
    each: [agent, seed]
    durable: true
    script: steps/a.ts
    params: { preset: "{agent.preset}" }
    budget: { time: 1h, tokens: 1000, dollars: 9, dollarsPerMachineHour: 2.5 }
    resources: { cpus: 2, memory: 4GiB, gpus: GPUS, pools: { "api:{agent.providers}": 1 } }
    gives: { submission: dir }
  verdict:
    each: [agent, seed]
    needs: [attempt.submission]
    script: steps/b.ts
    budget: { time: 1h }
    gives: { verdict: dir }
`;
const team = `formatVersion: 1
name: pair
title: Pair
kind: team
secrets: [OWN_KEY]
team: { members: [{ name: a, agent: talker }, { name: b, agent: keyed, after: [a] }] }
`;
const talker = "formatVersion: 1\nname: talker\ntitle: T\nkind: llm\nmodel: { contextTokens: 1000 }\n";
const keyed = `formatVersion: 1
name: keyed
title: K
kind: llm
provider: own
secrets: [OWN_KEY]
model: { id: m, baseUrl: "http://127.0.0.1:1/v1", key: OWN_KEY, contextTokens: 1000 }
`;

function plan(set: Selection, { gpus = 0 } = {}) {
  const presets = Object.entries({ pair: team, talker, keyed }).map(
    ([name, text]) => [`runners/agents/presets/${name}.yaml`, text] as const,
  );
  const text = pipeline.replace("GPUS", String(gpus));
  const files = { ...repository, ...Object.fromEntries(presets), "pipelines/test.yaml": text };
  const result = loadPlan({ file: "pipelines/test.yaml", set }, memorySources(files), ["local"]);
  assert.ok("plan" in result, JSON.stringify(result));
  return result.plan;
}

const stage = (made: ReturnType<typeof plan>, name: string) =>
  made.instances.find((one) => one.stage.name === name)!;
const attempt = (agent: string, of = {}) => stage(plan({ agent: [agent] }, of), "attempt");
const hourMs = 3_600_000;

test("an agent without an allowance has the limits that the stage declares, and no price of machines", () => {
  const { action, execution } = attempt("basic");
  assert.deepEqual(action.budget, { timeMs: hourMs, tokens: 1000, dollars: 9 });
  assert.equal(execution.resources.cpus, 2);
});

test("an allowance of time is also the verdict's, one of machines is the attempt's alone", () => {
  const made = plan({ agent: ["basic+twice-time"] });
  assert.equal(stage(made, "attempt").action.budget.timeMs, 2 * hourMs);
  assert.equal(stage(made, "verdict").action.budget.timeMs, 2 * hourMs);
  const both = plan({ agent: ["basic+two-machines"] }, { gpus: 1 });
  const { cpus, memoryBytes, gpus } = stage(both, "attempt").execution.resources;
  assert.deepEqual([cpus, memoryBytes, gpus], [4, 8 * 2 ** 30, 2]);
  assert.equal(stage(both, "verdict").execution.resources.cpus, 1);
});

test("a purse counts machine hours at the stated price, and its time ends where they alone use it up", () => {
  const budget = (agent: string, of = {}) => attempt(agent, of).action.budget;
  const rate = { machineDollarsPerHour: 2.5 };
  assert.deepEqual(budget("basic+purse"), { timeMs: 1.6 * hourMs, tokens: 1000, dollars: 4, ...rate });
  assert.equal(budget("basic+pair").machineDollarsPerHour, 5, "two machines");
  assert.equal(budget("basic+pair", { gpus: 3 }).machineDollarsPerHour, 15, "six GPUs");
  assert.equal(budget("basic+pair").timeMs, 0.8 * hourMs);
});

test("a chosen model goes before the allowance, and the results of a list never share the place of an allowance's", () => {
  const { instances, selection } = plan({ agent: ["talker+purse", "talker"], model: ["openai/m"] });
  const agents = instances.filter((one) => one.stage.durable).map(({ axes }) => axes.agent);
  assert.deepEqual(agents, ["talker@openai:m+purse", "talker@openai:m"]);
  assert.match(selection, /^agent=talker@openai:m%purse\+talker@openai:m,?/);
});

test("a team holds its members' presets, their providers and secrets; a chosen model is for those without one", () => {
  const { action, execution } = attempt("pair@openai:m");
  const { team } = action.params.preset as { team: { members: Record<string, unknown>[] } };
  assert.deepEqual(
    team.members.map(({ agent, preset }) => [agent, (preset as { model: { id: string } }).model.id]),
    [
      ["talker@openai:m", "m"],
      ["keyed", "m"],
    ],
  );
  assert.deepEqual(Object.keys(execution.resources.pools).sort(), ["api:openai", "api:own"]);
  assert.deepEqual((action.params.preset as { secrets: string[] }).secrets, ["OWN_KEY", "OPENAI_API_KEY"]);
});
