// Services: servers that the runner starts before their first user and ends after their last.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { groupsMissing } from "@mlrb/agents/testing/groups-missing";
import {
  defineLlmAttempt,
  keyEnv,
  provider,
  recorded,
  shell,
  submit,
} from "./support/attempts/llm-attempts.ts";
import { lab, leftovers, lineOf, outcomes } from "./support/lab.ts";
import { isRunning, until } from "./support/processes.ts";
import type { SeenRequest } from "./support/providers/loopback-provider.ts";
import { model } from "./support/servers/model-service.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const missing = (await groupsMissing(["memory"])) ?? false;

const get = (path: string) =>
  `node -e "fetch('{services.model.url}${path}').then((a) => a.text()).then(console.log)"`;
const ask = { each: ["seed"], command: `${get("/ping")} > {outputs.answer}`, gives: { answer: "file" } };

test("a service starts once for all its users, not for reused ones, and its command is in their keys", async (t) => {
  const at = lab(t, repository);
  const { stage, pids } = model(at);
  const define = (more: Record<string, unknown>) =>
    at.define({ axes: { seed: [1, 2, 3] }, stages: { model: { ...stage, ...more }, ask } });
  define({});
  const first = await at.run();
  assert.equal(first.code, 0, first.stdout + first.stderr);
  const all = { model: "succeeded", "ask[seed=1]": "succeeded", "ask[seed=2]": "succeeded" };
  assert.deepEqual(outcomes(first), { ...all, "ask[seed=3]": "succeeded" });
  assert.equal(pids().length, 1);
  assert.deepEqual(pids().filter(isRunning), []);
  const { services } = first.lines.at(-1)!;
  assert.deepEqual([services[0].service, services[0].gpuHours], ["model", 0]);
  assert.ok(services[0].hours > 0);

  const second = await at.run();
  assert.deepEqual(new Set(Object.values(outcomes(second))), new Set(["reused"]));
  assert.equal(pids().length, 1);

  define({ env: { QUANTIZATION: "int8" } });
  const planned = await at.plan();
  assert.deepEqual(new Set(Object.values(outcomes(planned))), new Set(["run"]));
  assert.deepEqual(lineOf(planned, "ask[seed=1]").reasons, [{ kind: "service-changed", names: ["model"] }]);
});

test("a service that ends while it is used is started again, and its user goes on", async (t) => {
  const at = lab(t, repository);
  const { stage, pids } = model(at);
  const script = at.script(
    "ask.ts",
    `import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { stage } from "@mlrb/kit/stage";
const { params, outputs } = stage();
await fetch(params.url + "/die").catch(() => {});
for (;;) {
  const answer = await fetch(params.url + "/ping").catch(() => undefined);
  if (answer) { writeFileSync(outputs.answer, await answer.text()); break; }
  await sleep(50);
}
`,
  );
  const asks = { script, params: { url: "{services.model.url}" }, gives: { answer: "file" } };
  at.define({ stages: { model: stage, ask: asks } });
  const said = await at.pipeline(["run", at.name, "--root", at.root]);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(pids().length, 2);
  assert.match(said.stderr, /retry {3}model {2}\(it ended while it was used: .*3.*; restart 1 of 3\)/);
  assert.match(said.stdout, /services: model [\d.]+ h, 0 GPU hours/);
  const log = await at.pipeline(["log", "model", "--root", at.root]);
  assert.match(log.stdout, /loaded\nmlrb: it ended while it was used.*\nthe model is loaded/s);
});

test("a service that never answers fails with its last lines, and its users are skipped", async (t) => {
  const at = lab(t, repository);
  const { stage, pids } = model(at, { health: "/health/ready", ready: "5s" }, "http://127.0.0.1:1");
  at.define({ axes: { seed: [1, 2] }, stages: { model: stage, ask } });
  const said = await at.pipeline(["run", at.name, "--root", at.root]);
  assert.equal(said.code, 1, said.stdout + said.stderr);
  assert.match(
    said.stderr,
    /FAILED {2}model {2}time-limit: GET \/health\/ready did not answer with status 200 within 5\.0 s/,
  );
  assert.match(said.stderr, /skipped ask\[seed=2\] {2}\(needs model\)/);
  assert.match(said.stdout + said.stderr, /failed {2}model\n.*\n {8}\| the model is loaded/);
  assert.deepEqual([pids().length, pids().filter(isRunning).length], [1, 0]);

  at.define({
    axes: { seed: [1] },
    stages: { model: { ...stage, command: "echo no such model {port}; exit 4" }, ask },
  });
  const died = lineOf(await at.run(), "model").outcome;
  assert.equal(died, "failed");
});

test("after a kill of the runner the attempt waits, and the next run starts the service again and leaves nothing", {
  skip: missing,
}, async (t: TestContext) => {
  const at = lab(t, repository);
  const go = join(at.outside, "go");
  const real = await provider(t, async ({ body }: SeenRequest) => {
    const done = (JSON.stringify(body).match(/exit code 0\\nok/g) ?? []).length;
    if (done === 1) await until("the kill", () => existsSync(go));
    return { ...(done < 3 ? shell(`mkdir -p submission; echo ${done} > submission/a; echo ok`) : submit()) };
  });
  const { stage, pids } = model(at, { for: ["attempt"] }, real.url);
  const stages = { model: stage };
  defineLlmAttempt(at, { baseUrl: "{services.model.url}/v1" }, { turnsMax: 20, stages });
  const words = ["run", at.name, "--json", "--yes", "--root", at.root];
  const first = at.start(words, { env: keyEnv });
  await until("two calls", () => real.seen.length >= 2);
  first.child.kill("SIGKILL");
  await first.ended;
  await until("the end of the server", () => !pids().some(isRunning));
  writeFileSync(go, "");
  const second = await at.start(words, { env: keyEnv }).ended;
  assert.equal(second.code, 0, second.stdout + second.stderr);
  assert.equal(pids().length, 2);
  assert.deepEqual(pids().filter(isRunning), []);
  assert.deepEqual(leftovers(at), []);
  const { ledger, events, read } = recorded(at);
  assert.equal(read("submission/a"), "2\n");
  assert.equal(ledger.gpuHours ?? 0, 0);
  const causes = events.filter(({ event }) => event === "model-try").map(({ cause }) => String(cause));
  assert.match(causes.join(" "), /cut-stream|connection-lost|unreachable/);
  const addresses = JSON.stringify(events.filter(({ event }) => event === "start"));
  assert.doesNotMatch(addresses, /127\.0\.0\.1:/, "the record holds no port");
});

test("a plan counts the GPU hours of a service apart from those of the attempts that use it", async (t) => {
  const at = lab(t, repository);
  const { stage } = model(at, { for: ["attempt"] });
  const stages = { model: { ...stage, resources: { gpus: 2 } } };
  defineLlmAttempt(
    at,
    { baseUrl: "{services.model.url}/v1" },
    { free: true, stages, budget: { time: "24h" } },
  );
  const { services, gpuHours } = (await at.plan()).lines.at(-1)!.cost;
  assert.deepEqual([gpuHours, services], [0, { names: ["model"], least: 48, most: 48, unknown: 0 }]);
});

test("of a server that was started by hand the GPU hours are unknown, and no plan and no run says 0", async (t) => {
  const at = lab(t, repository);
  const real = await provider(t, [shell("mkdir -p submission; echo a > submission/a"), submit()]);
  defineLlmAttempt(at, { baseUrl: `${real.url}/v1` }, { free: true });
  assert.equal("services" in (await at.plan()).lines.at(-1)!.cost, false);
  const said = await at.pipeline(["run", at.name, "--json", "--yes", "--root", at.root], { env: keyEnv });
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal("services" in said.lines.at(-1)!, false);
  assert.equal(existsSync(join(at.root, ".mlrb/services.jsonl")), false);
});
