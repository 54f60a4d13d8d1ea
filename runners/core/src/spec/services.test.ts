import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPlan } from "../plan/load-plan.ts";
import { selectInstances } from "../plan/select-instances.ts";
import { memorySources, repository } from "../testing/memory-sources.ts";
import { servicesNamed, withAddresses } from "./services.ts";

test("addresses are found and filled in at any depth, and names without an address stay", () => {
  const value = {
    model: { baseUrl: "{services.a.url}/v1" },
    list: ["{services.b-2.url}", 3, null, "{services.a}"],
  };
  assert.deepEqual(servicesNamed(value), ["a", "b-2"]);
  assert.deepEqual(withAddresses(value, { a: "http://127.0.0.1:1" }), {
    model: { baseUrl: "http://127.0.0.1:1/v1" },
    list: ["{services.b-2.url}", 3, null, "{services.a}"],
  });
});

const preset = (name: string, more: string) =>
  `formatVersion: 1\nname: ${name}\ntitle: ${name}\nkind: llm\nprovider: own\nmodel: { id: m, contextTokens: 9000, ${more} }\n`;

const files = {
  "runners/agents/presets/served.yaml": preset("served", 'baseUrl: "{services.model.url}/v1"'),
  "runners/agents/presets/other.yaml": preset("other", "baseUrl: http://elsewhere/v1"),
};

function planned(stages: string, more: { executor?: string } = {}) {
  const text = `formatVersion: 1\nname: test\naxes: { agent: [served, other] }\nstages:\n${stages}`;
  const sources = memorySources({ ...repository, ...files, "pipelines/test.yaml": text });
  return loadPlan({ file: "pipelines/test.yaml", ...more }, sources, ["local", "docker", "slurm"]);
}

const model = '  model: { service: { for: [attempt] }, command: "serve --port {port}" }\n';
const attempt =
  '  attempt: { each: [agent], command: "true", params: { preset: "{agent.preset}" }, durable: true, untrusted: true, gives: { a: file } }\n';
const report = '  report: { command: "true", params: { presets: "{agent.preset}" } }\n';

test("an attempt uses the service that its agent's preset names, and a report that reads presets uses none", () => {
  const result = planned(model + attempt + report);
  assert("plan" in result, JSON.stringify(result));
  const { instances } = result.plan;
  const users = instances.filter(({ uses }) => uses).map(({ id }) => id);
  assert.deepEqual(users, ["attempt[agent=served]"]);
  const service = instances.find(({ id }) => id === "model")!;
  assert.deepEqual(service.action.run, { kind: "command", command: "serve --port {port}" });
  assert.deepEqual(service.execution.service, { health: "/health", readyMs: 600_000, restartsMax: 3 });
  const user = instances.find(({ uses }) => uses)!;
  const selection = selectInstances(result.plan, [user.id]);
  assert.deepEqual(selection, { selected: [service.index, user.index] });
});

test("what defaults say of all stages does not hold for a service", () => {
  const defaults = "defaults: { network: none, limits: { time: 30m, memory: 1GiB }, executor: docker }";
  const result = planned(model + attempt + defaults);
  assert("plan" in result, JSON.stringify(result));
  const { executor, network, limits } = result.plan.instances.find(({ id }) => id === "model")!.execution;
  assert.deepEqual(
    { executor, network, limits },
    { executor: "local", network: "full", limits: { memoryBytes: 2 ** 30 } },
  );
});

test("an attempt whose preset names a service that is not for its stage is refused", () => {
  const result = planned(`${model.replace("attempt", "ask")}${attempt}  ask: { command: "true" }\n`);
  assert("problems" in result);
  assert.deepEqual(
    result.problems.map(({ code, message }) => [code, message]),
    [["unknown-service", '"attempt" names {services.model.url}, and the service "model" is not for it']],
  );
});

for (const executor of ["docker", "slurm"])
  test(`--executor ${executor} leaves a service on the runner's host, and a trusted user that would run elsewhere is refused`, () => {
    const moved = planned(model + attempt, { executor });
    assert("plan" in moved);
    assert.deepEqual(
      moved.plan.instances.map(({ execution }) => execution.executor),
      ["local", executor, executor],
    );
    const trusted = '  ask: { command: "curl {services.model.url}" }\n';
    const refused = planned(model.replace("attempt", "ask") + trusted, { executor });
    assert("problems" in refused);
    assert.deepEqual(
      refused.problems.map(({ code }) => code),
      ["service-out-of-reach"],
    );
  });

test("a service cannot be a job, and what a profile says of all stages' executor does not move it", () => {
  const own = planned(model.replace("service:", "executor: slurm, service:") + attempt);
  assert("problems" in own);
  assert.deepEqual(
    own.problems.map(({ code, message }) => [code, message]),
    [["service-setting", 'executor cannot be set for the service "model"']],
  );
  const all = planned(`${model + attempt}defaults: { executor: slurm }\n`);
  assert("plan" in all);
  assert.equal(all.plan.instances.find(({ id }) => id === "model")!.execution.executor, "local");
});
