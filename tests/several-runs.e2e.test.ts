// Several runs on one state folder: each action is executed once, whichever run comes first.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { actionsIn } from "./support/end-state.ts";
import { counted, type Lab, lab, leftovers, outcomes, results } from "./support/lab.ts";
import { isRunning, pidsIn, spawnerOf, stageProcesses, until } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const linux = process.platform === "linux";

const repository = throwAwayRepository();
after(() => repository.remove());

function chains(at: Lab): void {
  at.define({
    axes: { word: ["a", "b", "c", "d", "e"] },
    stages: {
      make: {
        each: ["word"],
        command: counted(at, "make-{word}", "sleep 0.1; echo {word} > {outputs.text}"),
        gives: { text: "file" },
      },
      keep: {
        each: ["word"],
        durable: true,
        needs: ["make.text"],
        command: counted(at, "keep-{word}", "sleep 0.1; cat {inputs.text} {inputs.text} > {outputs.text}"),
        gives: { text: "file" },
      },
      gather: {
        collect: ["keep.text"],
        command: counted(at, "gather", 'cat "$(dirname {inputs.manifest})"/members/* > {outputs.all}'),
        gives: { all: "file" },
      },
    },
  });
}

const once = Object.fromEntries(
  ["gather", ...["a", "b", "c", "d", "e"].flatMap((word) => [`keep-${word}`, `make-${word}`])].map((name) => [
    name,
    1,
  ]),
);

test("two runs at the same time execute each action once, and both succeed with the same results", async (t) => {
  const at = lab(t, repository);
  chains(at);
  const runs = await Promise.all([at.run("--jobs", "2"), at.run("--jobs", "3")]);
  for (const { code, stdout, stderr } of runs) assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(at.executions(), once);
  const [one, two] = runs.map(outcomes);
  for (const stage of Object.keys(one!)) {
    assert.deepEqual(new Set([one![stage], two![stage]]), new Set(["succeeded", "reused"]), stage);
  }
  assert.equal(results(at)[`${at.name}/default/all`], "a\na\nb\nb\nc\nc\nd\nd\ne\ne\n");
  assert.deepEqual(leftovers(at), []);
});

test("six runs that repeatedly start together on the folder of a killed run all succeed", async (t) => {
  for (let round = 0; round < 3; round++) {
    const at = lab(t, repository);
    chains(at);
    const killed = at.start(["run", at.name, "--json", "--root", at.root]);
    await until("something to run", () => Object.keys(at.executions()).length > 0);
    const spawner = linux ? spawnerOf(killed.child.pid!) : 0;
    killed.child.kill("SIGKILL");
    await killed.ended;
    // what the killed run had requested counts as started
    await until(
      "its stages to end",
      () => !linux || (!isRunning(spawner) && stageProcesses(at.root).length === 0),
    );
    const before = at.executions();
    const runs = await Promise.all(Array.from({ length: 6 }, () => at.run("--jobs", "2")));
    for (const { code, stdout, stderr } of runs) assert.equal(code, 0, stdout + stderr);
    const counts = at.executions();
    assert.deepEqual(Object.keys(counts), Object.keys(once).sort());
    for (const [name, count] of Object.entries(counts))
      assert.ok(count <= 1 + (before[name] ?? 0), `${name}: ${count}`);
    assert.deepEqual(leftovers(at), []);
  }
});

test("another pipeline with an equal stage waits for it and reuses its outputs", async (t) => {
  const [one, two] = [lab(t, repository), lab(t, repository)];
  const pids = join(one.outside, "pids");
  const go = join(one.outside, "go");
  const slow = {
    command: counted(
      one,
      "slow",
      `echo $$ >> '${pids}'; while [ ! -e '${go}' ]; do sleep 0.05; done; echo x > {outputs.text}`,
    ),
    gives: { text: "file" },
  };
  one.define({ stages: { slow } });
  two.define({ stages: { alike: slow } });
  const first = one.start(["run", one.name, "--json", "--root", one.root]);
  await until("it to run", () => pidsIn(pids).length === 1);
  const second = two.start(["run", two.name, "--root", one.root]);
  await until("the other to wait", () => second.stderr().includes("waits"));
  assert.match(
    second.stderr(),
    new RegExp(`waits +alike +\\(process ${first.child.pid} on ${hostname()} does it\\)`),
  );
  writeFileSync(go, "");
  assert.equal((await first.ended).code, 0);
  const said = await second.ended;
  assert.equal(said.code, 0, said.stderr);
  assert.match(said.stdout, /1 reused/);
  assert.deepEqual(one.executions(), { slow: 1 });
});

test("if the run that others wait for is killed, one of them takes over", async (t) => {
  const at = lab(t, repository);
  const pids = join(at.outside, "pids");
  const go = join(at.outside, "go");
  at.define({
    stages: {
      slow: {
        command: counted(
          at,
          "slow",
          `echo $$ >> '${pids}'; while [ ! -e '${go}' ]; do sleep 0.05; done; echo x > {outputs.text}`,
        ),
        gives: { text: "file" },
      },
    },
  });
  const first = at.start(["run", at.name, "--root", at.root]);
  await until("it to run", () => pidsIn(pids).length === 1);
  const others = [1, 2].map(() => at.start(["run", at.name, "--root", at.root]));
  for (const other of others) await until("it to wait", () => other.stderr().includes("waits"));
  first.child.kill("SIGKILL");
  await first.ended;
  await until("another to run it", () => pidsIn(pids).length === 2);
  writeFileSync(go, "");
  for (const { ended } of others) assert.equal((await ended).code, 0);
  assert.deepEqual(at.executions(), { slow: 2 });
});

test("Ctrl-C at once ends a run that waits for another run", async (t) => {
  const at = lab(t, repository);
  const pids = join(at.outside, "pids");
  const go = join(at.outside, "go");
  at.define({
    stages: {
      slow: {
        command: `echo $$ >> '${pids}'; while [ ! -e '${go}' ]; do sleep 0.05; done; echo x > {outputs.text}`,
        gives: { text: "file" },
      },
    },
  });
  const first = at.start(["run", at.name, "--root", at.root]);
  await until("it to run", () => pidsIn(pids).length === 1);
  const second = at.start(["run", at.name, "--root", at.root]);
  await until("it to wait", () => second.stderr().includes("waits"));
  second.child.kill("SIGINT");
  const timeout = setTimeout(() => writeFileSync(go, ""), 5_000);
  const said = await second.ended;
  clearTimeout(timeout);
  assert.equal(said.code, 130, said.stderr);
  assert.equal(first.child.exitCode, null, "the other goes on");
  writeFileSync(go, "");
  assert.equal((await first.ended).code, 0);
});

test("a lease with a reused process id does not block a run", async (t) => {
  const at = lab(t, repository);
  at.define({ stages: { make: { command: "echo x > {outputs.text}", gives: { text: "file" } } } });
  await at.run();
  const { key } = actionsIn(at.root)[0]!;
  spawnSync("rm", ["-r", join(at.root, ".mlrb/cache")]);
  const boot =
    process.platform === "linux" ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() : "";
  for (const lease of [
    JSON.stringify({ host: hostname(), boot, pid: process.pid, started: "1" }),
    JSON.stringify({ host: hostname(), boot: "another", pid: process.pid, started: "" }),
    "",
    "{",
  ]) {
    writeFileSync(join(at.root, ".mlrb/leases", key), lease);
    spawnSync("rm", ["-rf", join(at.root, ".mlrb/cache")]);
    const run = at.start(["run", at.name, "--json", "--root", at.root]);
    const timer = setTimeout(() => run.child.kill("SIGKILL"), 20_000);
    const said = await run.ended;
    clearTimeout(timer);
    assert.equal(said.code, 0, `held up by ${lease}: ${said.stdout}${said.stderr}`);
  }
});
