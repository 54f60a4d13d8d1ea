// The next run completes a run that was killed or interrupted at any time: it ends surviving processes, repeats no
// finished stage, and the end state equals that of an undisturbed run.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { counted, filesBelow, type Lab, lab, leftovers, outcomes, results, summary } from "./support/lab.ts";
import { isRunning, pidsIn, spawnerOf, spawnersLeft, stageProcesses, until } from "./support/processes.ts";
import { parseLines } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const linux = process.platform === "linux";

/** Fourteen stages in four layers, one of them durable; about a second on two slots. */
function layered(at: Lab): void {
  const slow = (name: string, text: string) =>
    counted(at, name, `sleep 0.08; echo ${text} > {outputs.text}; sleep 0.04`);
  at.define({
    axes: { word: ["alpha", "beta", "gamma", "delta"] },
    stages: {
      source: { command: slow("source", "source"), gives: { text: "file" } },
      first: {
        each: ["word"],
        needs: ["source.text"],
        command: slow("first-{word}", "first {word}"),
        gives: { text: "file" },
      },
      kept: {
        each: ["word"],
        needs: ["first.text"],
        durable: true,
        command: slow("kept-{word}", "kept {word}"),
        gives: { text: "file" },
      },
      folder: {
        each: ["word"],
        needs: ["kept.text"],
        command: counted(
          at,
          "folder-{word}",
          "sleep 0.05; cp {inputs.text} {outputs.all}/a; mkdir {outputs.all}/deep; cp {inputs.text} {outputs.all}/deep/b",
        ),
        gives: { all: "dir" },
      },
      gather: {
        collect: ["folder.all"],
        command:
          '(cat {inputs.manifest}; cat "$(dirname {inputs.manifest})"/members/*/all/deep/b) > {outputs.text}',
        gives: { text: "file" },
      },
    },
  });
}

const stages = [
  "source",
  ...["first", "kept", "folder"].flatMap((name) =>
    ["alpha", "beta", "delta", "gamma"].map((word) => `${name}-${word}`),
  ),
];

/** The name of `first[word=alpha]` in its line in the file of executions. */
const countName = (stage: string) => stage.replace(/\[word=(.*)\]/, "-$1");

test("after kill -9 of the runner at eight moments, the next run repeats nothing finished and ends as a clean run", async (t) => {
  const clean = lab(t, repository);
  layered(clean);
  const begin = Date.now();
  assert.equal((await clean.run("--jobs", "4")).code, 0);
  const whole = Date.now() - begin;
  const expected = Object.values(results(clean));
  assert.equal(expected.length, 1);

  for (let round = 0; round < 8; round++) {
    const at = lab(t, repository);
    layered(at);
    // spread over the whole run, off the grid
    const delay = Math.round(((round + Math.random()) / 8) * whole);
    const killed = at.start(["run", at.name, "--json", "--root", at.root, "--jobs", "4"]);
    await sleep(delay);
    killed.child.kill("SIGKILL");
    const first = await killed.ended;
    const reported = parseLines(first.stdout).filter(
      ({ event, outcome }) => event === "stage" && outcome === "succeeded",
    );
    await until(
      "the killed run's stages to end",
      () => !spawnersLeft() && stageProcesses(at.root).length === 0,
    );
    const before = at.executions();

    const second = await at.run("--jobs", "4");
    const hint = `killed after ${delay} of ${whole} ms; then:\n${second.stdout}${second.stderr}`;
    assert.equal(second.code, 0, hint);
    const done = outcomes(second);
    for (const { stage } of reported) {
      assert.equal(done[stage], "reused", `${stage} had finished; ${hint}`);
      if (stage !== "gather")
        assert.equal(at.executions()[countName(stage)], 1, `${stage} ran again; ${hint}`);
    }
    const counts = at.executions();
    assert.deepEqual(Object.keys(counts).sort(), [...stages].sort(), hint);
    for (const [name, count] of Object.entries(counts))
      assert.ok(count <= (before[name] ?? 0) + 1, `${name}; ${hint}`);
    assert.deepEqual(Object.values(results(at)), expected, hint);
    assert.deepEqual(leftovers(at), [], hint);
    const third = await at.run();
    assert.equal(summary(third).outcomes.reused, 14, hint);
    assert.equal(
      filesBelow(join(at.root, ".mlrb/attempts"))["index.jsonl"]?.split("\n").length,
      5,
      "one record a slot",
    );
  }
});

test("with repeated kill -9, each run gets further, and the last completes", async (t) => {
  const at = lab(t, repository);
  layered(at);
  let kills = 0;
  for (;;) {
    const run = at.start(["run", at.name, "--json", "--root", at.root, "--jobs", "2"]);
    // reported results are kept, so every run gets further, however slow the machine is
    const reported = () => run.child.exitCode !== null || run.stdout().includes('"outcome":"succeeded"');
    await until("a stage to end", reported);
    const timer = setTimeout(() => run.child.kill("SIGKILL"), Math.random() * 200);
    const { code } = await run.ended;
    clearTimeout(timer);
    if (code === 0) break;
    assert.equal(code, null, "ended by the kill, not by itself");
    assert.ok(++kills < 15, "it never gets to its end");
  }
  assert.ok(kills > 0);
  assert.equal(summary(await at.run()).outcomes.reused, 14);
  assert.deepEqual(leftovers(at), []);
});

/** Three stages, each with a child in its group and one in its own session, until `go` exists. */
function longStages(at: Lab): { pids: string; go: string } {
  const pids = join(at.outside, "pids");
  const go = join(at.outside, "go");
  const long = (name: string) =>
    `test -e '${go}' && { echo ${name} > {outputs.text}; exit 0; }; echo $$ >> '${pids}'; setsid sh -c 'echo $$ >> "${pids}"; sleep 300; true' & (cd / && sleep 301 & echo $! >> '${pids}'); echo half > {outputs.text}; wait`;
  at.define({
    stages: Object.fromEntries(
      ["one", "two", "three"].map((name) => [
        name,
        { command: long(name), gives: { text: { file: `${name}.txt` } } },
      ]),
    ),
  });
  return { pids, go };
}

/** Starts them on as many slots, and waits until all their processes exist. */
async function started(at: Lab, { pids }: { pids: string }, slots: number) {
  const run = at.start(["run", at.name, "--json", "--root", at.root, "--jobs", String(slots)]);
  await until("all processes", () => pidsIn(pids).length === 3 * slots);
  return run;
}

async function completes(at: Lab, { pids, go }: { pids: string; go: string }): Promise<void> {
  assert.equal(leftovers(at).length, 1);
  writeFileSync(go, "");
  const next = await at.run("--jobs", "3");
  assert.equal(next.code, 0, next.stdout + next.stderr);
  assert.deepEqual(pidsIn(pids).filter(isRunning), []);
  assert.deepEqual(leftovers(at), []);
  assert.deepEqual(
    Object.values(results(at)).sort(),
    ["one\n", "three\n", "two\n"],
    "nothing half-written was taken",
  );
}

test("a killed runner's stages end with it, detached ones too, and the next run completes", {
  skip: linux ? false : "processes can be traced on Linux only",
}, async (t) => {
  const at = lab(t, repository);
  const long = longStages(at);
  const killed = await started(at, long, 3);
  killed.child.kill("SIGKILL");
  await killed.ended;
  await until("all processes to end", () => !pidsIn(long.pids).some(isRunning));
  await completes(at, long);
});

test("processes and folders that outlive runner and spawner are removed by the next run, detached ones too", {
  skip: linux ? false : "processes can be traced on Linux only",
}, async (t) => {
  const at = lab(t, repository);
  const long = longStages(at);
  const killed = await started(at, long, 3);
  const spawner = spawnerOf(killed.child.pid!);
  process.kill(spawner, "SIGSTOP"); // it must not notice the other's death
  killed.child.kill("SIGKILL");
  process.kill(spawner, "SIGKILL");
  await killed.ended;
  assert.equal(pidsIn(long.pids).filter(isRunning).length, 9, "nothing ends them but the next run");
  await completes(at, long);
});

test("a dead spawner fails its jobs, with the machine as the cause, and the run continues without it", {
  skip: linux ? false : "programs are started directly elsewhere",
}, async (t) => {
  const at = lab(t, repository);
  const long = longStages(at);
  const run = await started(at, long, 2);
  writeFileSync(long.go, "");
  process.kill(spawnerOf(run.child.pid!), "SIGKILL");
  const said = await run.ended;
  assert.equal(said.code, 1);
  assert.equal(summary(said).outcomes.failed, 2);
  assert.equal(summary(said).outcomes.succeeded, 1, "the third was started without it");
  assert.match(said.stdout, /"failure":"machine"/);
  assert.deepEqual(pidsIn(long.pids).filter(isRunning), []);
  assert.equal((await at.run()).code, 0);
});

test("without Python, programs are started directly, with the same end", {
  skip: linux ? false : "programs are started directly elsewhere",
}, async (t) => {
  const at = lab(t, repository);
  at.define({
    stages: {
      good: { command: "echo good > {outputs.text}", gives: { text: { file: "good.txt" } } },
      bad: { command: "echo oh; exit 3", gives: { text: { file: "bad.txt" } } },
      hit: { command: "kill -9 $$", gives: { text: { file: "hit.txt" } } },
      none: { command: ["there-is-no-such-program"], gives: { text: { file: "none.txt" } } },
    },
  });
  const bin = join(at.outside, "bin");
  mkdirSync(bin);
  for (const name of ["sh", "echo", "kill"])
    symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(bin, name));
  const causes = async (env: Record<string, string>) => {
    const said = await at.pipeline(["run", at.name, "--json", "--root", at.root], { env });
    removeFolder(join(at.root, ".mlrb"));
    return said.stdout
      .split("\n")
      .filter((line) => line.includes('"event":"stage"'))
      .map((line) => JSON.parse(line) as Record<string, string>)
      .map(({ name, outcome, failure, cause }) => ({ name, outcome, failure, cause: cause?.slice(0, 30) }))
      .sort((a, b) => (a.name! < b.name! ? -1 : 1));
  };
  const withIt = await causes({});
  const without = await causes({ PATH: bin });
  assert.deepEqual(
    withIt.map(({ outcome, failure }) => failure ?? outcome),
    ["exit-code", "succeeded", "exit-code", "machine"],
  );
  assert.match(withIt[3]!.cause!, /machine: ENOENT/);
  assert.deepEqual(without.slice(0, 3), withIt.slice(0, 3));
  assert.equal(without[3]!.failure, "machine");
});

test("Ctrl-C once: running stages are asked to end, nothing more starts, exit 130; the next run completes", async (t) => {
  const at = lab(t, repository);
  const go = join(at.outside, "go");
  const pids = join(at.outside, "pids");
  const asked = join(at.outside, "asked");
  const waits = `trap 'echo asked > "${asked}"; exit 0' TERM; echo $$ >> '${pids}'; echo half > {outputs.text}; while [ ! -e '${go}' ]; do sleep 0.05; done; echo whole > {outputs.text}`;
  at.define({
    stages: {
      quick: {
        command: counted(at, "quick", "echo x > {outputs.text}"),
        gives: { text: { file: "quick.txt" } },
      },
      waits: { command: counted(at, "waits", waits), gives: { text: { file: "waits.txt" } } },
      later: {
        needs: { waited: "waits.text" },
        command: counted(at, "later", "cp {inputs.waited} {outputs.text}"),
        gives: { text: { file: "later.txt" } },
      },
    },
  });
  const run = at.start(["run", at.name, "--json", "--root", at.root, "--jobs", "2"]);
  await until(
    "the stage that waits and the end of the other",
    () => pidsIn(pids).length === 1 && run.stdout().includes('"quick"'),
  );
  run.child.kill("SIGINT");
  const said = await run.ended;
  assert.equal(said.code, 130, said.stdout + said.stderr);
  assert.deepEqual(outcomes(said), { quick: "succeeded", waits: "cancelled", later: "skipped" });
  assert.equal(summary(said).outcomes.cancelled, 1);
  assert.deepEqual(pidsIn(pids).filter(isRunning), []);
  assert.deepEqual(filesBelow(at.outside).asked, "asked\n", "it could clean up");
  assert.deepEqual(leftovers(at), []);
  writeFileSync(go, "");
  const next = await at.run();
  assert.equal(next.code, 0);
  assert.deepEqual(outcomes(next), { quick: "reused", waits: "succeeded", later: "succeeded" });
  assert.deepEqual(at.executions(), { quick: 1, waits: 2, later: 1 });
  assert.equal(
    results(at)[`${at.name}/default/later.txt`],
    "whole\n",
    "what a cancelled stage had written is not taken",
  );
});

test("Ctrl-C twice: stages that do not end are killed with their children; exit 130; the next run completes", async (t) => {
  const at = lab(t, repository);
  const go = join(at.outside, "go");
  const pids = join(at.outside, "pids");
  const stubborn = `test -e '${go}' && exit 0; trap '' TERM INT; echo $$ >> '${pids}'; setsid sh -c 'trap "" TERM; echo $$ >> "${pids}"; sleep 300; true' & while true; do sleep 0.05; done`;
  at.define({
    stages: {
      stubborn: { command: stubborn },
      other: { command: stubborn.replace("exit 0;", "exit 0; true;") },
    },
  });
  const run = at.start(["run", at.name, "--root", at.root, "--jobs", "2"]);
  await until("four processes", () => pidsIn(pids).length === 4);
  const begin = Date.now();
  run.child.kill("SIGINT");
  await until("the first word of it", () => run.stderr().includes("asked to stop"));
  run.child.kill("SIGINT");
  const said = await run.ended;
  assert.equal(said.code, 130, said.stderr);
  assert.ok(Date.now() - begin < 4_000, "it did not wait for the time that the first Ctrl-C grants");
  assert.match(said.stderr, /killing running stages/);
  assert.deepEqual(pidsIn(pids).filter(isRunning), linux ? [] : pidsIn(pids).filter(isRunning));
  assert.deepEqual(leftovers(at), []);
  writeFileSync(go, "");
  assert.equal((await at.run()).code, 0);
});

test("SIGTERM ends a run as Ctrl-C does", async (t) => {
  const at = lab(t, repository);
  const pids = join(at.outside, "pids");
  at.define({ stages: { waits: { command: `echo $$ >> '${pids}'; exec sleep 300` } } });
  const run = at.start(["run", at.name, "--json", "--root", at.root]);
  await until("the stage", () => pidsIn(pids).length === 1);
  run.child.kill("SIGTERM");
  const said = await run.ended;
  assert.equal(said.code, 130);
  assert.deepEqual(outcomes(said), { waits: "cancelled" });
  assert.deepEqual(pidsIn(pids).filter(isRunning), []);
});

test("a stage killed by another program fails, and does not count as an interrupt of the run", async (t) => {
  const at = lab(t, repository);
  at.define({ stages: { dies: { command: "kill -KILL $$" }, apart: { command: "true" } } });
  const said = await at.run();
  assert.equal(said.code, 1);
  assert.deepEqual(outcomes(said), { dies: "failed", apart: "succeeded" });
});
