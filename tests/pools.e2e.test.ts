// At most as many stages run at once as their pool allows, whatever the machine could do.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { lab } from "./support/lab.ts";
import { until } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

test("at most as many agents call a provider at once as its pool allows, and agents without calls do not wait", async (t) => {
  const at = lab(t, repository);
  const calls = join(at.outside, "calls");
  const providers = { one: "provider: here\n", two: "provider: there\n", three: "" };
  for (const [agent, provider] of Object.entries(providers))
    repository.write(
      `runners/agents/presets/${agent}.yaml`,
      `formatVersion: 1\nname: ${agent}\ntitle: ${agent}\nkind: nop\n${provider}`,
    );
  const pipeline = {
    axes: { agent: Object.keys(providers), seed: [1, 2, 3, 4] },
    pools: { "api:here": 1, "api:there": 2 },
    stages: {
      call: {
        each: ["agent", "seed"],
        command: `echo + {agent} >> '${calls}'; sleep 0.2; echo - {agent} >> '${calls}'`,
        resources: { cpus: 0.1, pools: { "api:{agent.provider}": 1 } },
      },
    },
  };
  at.define(pipeline);
  assert.equal((await at.run("--jobs", "4")).code, 0);
  const now: Record<string, number> = { one: 0, two: 0, three: 0 };
  const most = { ...now };
  for (const line of readFileSync(calls, "utf8").trim().split("\n")) {
    const [sign, agent] = line.split(" ") as [string, string];
    now[agent]! += sign === "+" ? 1 : -1;
    most[agent] = Math.max(most[agent]!, now[agent]!);
  }
  assert.deepEqual(now, { one: 0, two: 0, three: 0 });
  assert.equal(most.one, 1);
  assert.equal(most.two, 2);
  assert.ok(most.three! > 2, "nothing holds it up");
});

test("status shows which stages wait for a pool and which for another run, and log shows the latter too", async (t) => {
  const at = lab(t, repository);
  const go = join(at.outside, "go");
  at.define({
    axes: { seed: [1, 2, 3] },
    pools: { narrow: 1 },
    stages: {
      call: {
        each: ["seed"],
        command: `touch '${at.outside}/begun'; while [ ! -e '${go}' ]; do sleep 0.05; done`,
        resources: { cpus: 0.1, pools: { narrow: 1 } },
      },
    },
  });
  const only = ["--only", "call[seed=1]"];
  const first = at.start(["run", at.name, "--root", at.root, ...only]);
  await until("the first run to begin", () => existsSync(join(at.outside, "begun")));
  const second = at.start(["run", at.name, "--root", at.root, "--jobs", "3"]);
  await until("the second run to wait", () => second.stderr().includes("waits   call[seed=1]"));
  let status = "";
  for (let tries = 0; tries < 40 && !status.includes("wait for pool narrow"); tries++)
    status = (await at.pipeline(["status", at.name, "--root", at.root])).stdout;
  assert.match(status, /\n {2}call\[seed=1\] {2}waits: process \d+.* does it, for /);
  assert.match(status, /\n {2}2 wait for pool narrow\n/);
  const log = await at.pipeline(["log", "call[seed=1]", "--root", at.root]);
  assert.match(log.stdout, /== waiting now: process \d+.* does it, since /);
  writeFileSync(go, "");
  for (const { ended } of [first, second]) assert.equal((await ended).code, 0);
});
