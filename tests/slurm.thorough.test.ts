// Whole runs whose stages are jobs of a real Slurm, of two nodes on loopback: their results equal this host's, the
// next run continues what a killed run left running, lost jobs are submitted again, and nothing remains.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { benchmarkState } from "./support/benchmark-state.ts";
import { indexVariables } from "./support/demonstration/play.ts";
import { actionsIn } from "./support/end-state.ts";
import { shareEnvironments } from "./support/environments.ts";
import { counted, type Lab, lab, leftovers, outcomes, results } from "./support/lab.ts";
import { type SlurmCluster, slurmCluster } from "./support/machines/slurm-cluster.ts";
import { until } from "./support/processes.ts";
import { type Line, type Started, startProgram } from "./support/run-program.ts";
import { smokesIn } from "./support/test-seed.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
let cluster: SlurmCluster;
let why: string | false = false;
before(async () => {
  const started = await slurmCluster({ cpus: 2 });
  if ("skip" in started) why = started.skip;
  else cluster = started;
});
after(async () => {
  await cluster?.stop();
  repository.remove();
});

/** A test that skips, with a reason, if there is no Slurm. */
function it(title: string, body: (at: Lab & { t: TestContext }) => Promise<void>, minutes = 5): void {
  test(title, { timeout: minutes * 60_000 }, async (t: TestContext) => {
    if (why !== false) return t.skip(why);
    t.after(endAll); // a failed test would hold the nodes
    await body(Object.assign(lab(t, repository), { t }));
    await until("the end of all jobs", () => cluster.jobs().length === 0);
  });
}

const started: Started[] = [];

const run = (at: Lab, ...more: string[]) => start(at, ...more).ended;
function start(at: Lab, ...more: string[]): Started {
  const one = at.start(["run", at.name, "--json", "--root", at.root, ...more], { env: cluster.env });
  started.push(one);
  return one;
}

async function endAll(): Promise<void> {
  for (const one of started.splice(0)) {
    one.child.kill("SIGKILL");
    await one.ended;
  }
  await cluster.start();
  cluster.slurm("scancel", "--user=root");
}

it("stages as jobs give the same bytes under the same keys: a run on this host reuses them all", async (at) => {
  at.define({
    axes: { word: ["alpha", "beta"] },
    profiles: { here: { default: true }, there: { executor: "slurm", slurm: { partition: "low" } } },
    stages: {
      source: { command: "echo source > {outputs.text}", gives: { text: "file" } },
      both: {
        each: ["word"],
        needs: ["source.text"],
        command: "cat {inputs.text} > {outputs.text}; echo {word} >> {outputs.text}",
        gives: { text: "file" },
        network: "none",
      },
      gather: {
        collect: ["both.text"],
        command: '(cat {inputs.manifest}; cat "$(dirname {inputs.manifest})"/members/*-text) > {outputs.all}',
        gives: { all: "file" },
      },
    },
  });
  const there = await run(at, "--profile", "there");
  assert.equal(there.code, 0, there.stdout + there.stderr);
  const made = results(at);
  assert.equal(journals(at).match(/"event":"placed"[^\n]*"node":"n[12]","queuedMs":\d+/g)?.length, 4);
  const here = await run(at);
  assert.deepEqual(new Set(Object.values(outcomes(here))), new Set(["reused"]));
  assert.deepEqual(published(results(at)), published(made));
  assert.deepEqual(leftovers(at), []);
});

it("after kill -9 of the runner, the next run continues its job, and nothing runs twice", async (at) => {
  slow(at);
  const first = start(at, "--executor", "slurm");
  await until("the job", () => at.executions().slow === 1);
  const jobs = cluster.jobs();
  first.child.kill("SIGKILL");
  await first.ended;
  const second = start(at, "--executor", "slurm");
  await until("the adoption", () => journals(at).includes('"event":"adopt"'));
  assert.equal(cluster.jobs().length, jobs.length, "it depends on no runner");
  goOn(at);
  const said = await second.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.deepEqual(at.executions(), { slow: 1 });
  assert.deepEqual(leftovers(at), []);
});

it("the next run cancels jobs of a killed run that it does not need, even if it uses none", async (at) => {
  slow(at);
  const first = start(at, "--executor", "slurm");
  await until("the job", () => at.executions().slow === 1);
  first.child.kill("SIGKILL");
  await first.ended;
  at.define({ stages: { quick: { command: "true" } } });
  const said = await run(at);
  assert.equal(said.code, 0, said.stderr);
  assert.deepEqual(leftovers(at), []);
});

it("a job whose node dies is submitted again, and its outputs come from the second try", async (at) => {
  slow(at);
  const said = start(at, "--executor", "slurm");
  await until("the job", () => at.executions().slow === 1);
  const node = cluster.slurm("squeue", "--noheader", "--states=RUNNING", "--format=%N").trim();
  await cluster.crashNode(node);
  await until("the second try", () => at.executions().slow === 2, 90_000);
  goOn(at);
  const { code, stdout, stderr } = await said.ended;
  assert.equal(code, 0, stdout + stderr);
  assert.match(journals(at), /the node of its job failed"[^\n]*"event":"retry"/);
  await cluster.start();
});

it("a preempted job is submitted again", async (at) => {
  slow(at, { profiles: { low: { default: true, executor: "slurm", slurm: { partition: "low" } } } });
  const said = start(at);
  await until("the job", () => at.executions().slow === 1);
  cluster.slurm(
    "sbatch",
    "--partition=main",
    "--nodes=2",
    "--exclusive",
    "--wrap=sleep 1",
    "--output=/dev/null",
  );
  await until("the second try", () => at.executions().slow === 2, 90_000);
  goOn(at);
  const { code, stdout, stderr } = await said.ended;
  assert.equal(code, 0, stdout + stderr);
  assert.match(journals(at), /was preempted by another"[^\n]*"event":"retry"/);
});

it("a job that an administrator cancels has failed, and is not submitted again", async (at) => {
  slow(at);
  const said = start(at, "--executor", "slurm");
  await until("the job", () => at.executions().slow === 1);
  cluster.slurm("scancel", "--user=root");
  const { code, stdout } = await said.ended;
  assert.equal(code, 1);
  assert.match(stdout, /cancelled by another person or program/);
  assert.deepEqual(at.executions(), { slow: 1 });
});

it("a job ends as usual while the controller is away, and a stage that comes then waits for it", async (at) => {
  slow(at, { next: true });
  const said = start(at, "--executor", "slurm");
  await until("the job", () => at.executions().slow === 1);
  await cluster.crash("slurmctld");
  goOn(at);
  await until(
    "the end of the job",
    () => journals(at).includes('"stage":"slow","outcome"') || /"stage":"slow"/.test(said.stdout()),
  );
  await cluster.start();
  // a controller that had not saved its last job gives the id again, and drains the node that knows it
  const resumes = setInterval(() => cluster.resume(), 2_000);
  const { code, stdout, stderr } = await said.ended;
  clearInterval(resumes);
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(at.executions(), { next: 1, slow: 1 });
});

it("a node whose spool is full takes no job: the stage waits, and runs once there is room", async (at) => {
  slow(at);
  goOn(at);
  const spools = ["n1", "n2"].map((node) => join(cluster.folder, `spool.${node}`));
  for (const spool of spools) {
    assert.equal(spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", spool]).status, 0);
    assert.throws(() => writeFileSync(join(spool, "fill"), Buffer.alloc(1 << 20)), { code: "ENOSPC" });
  }
  const said = start(at, "--executor", "slurm");
  try {
    await until("a drained node", () => / drain/.test(cluster.slurm("sinfo", "--Node", "--format=%N %T")));
  } finally {
    for (const spool of spools) spawnSync("umount", ["-l", spool]);
  }
  // Slurm leaves it to a person to return a drained node
  const resumes = setInterval(() => cluster.resume(), 2_000);
  const { code, stdout, stderr } = await said.ended;
  clearInterval(resumes);
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(at.executions(), { slow: 1 });
});

it("a job goes on while the slurmd of its node is dead, and its result counts", async (at) => {
  slow(at);
  const said = start(at, "--executor", "slurm");
  await until("the job", () => at.executions().slow === 1);
  await cluster.crash("slurmd", nodeOf(at, "slow"));
  goOn(at);
  const { code, stdout, stderr } = await said.ended;
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(at.executions(), { slow: 1 });
  await cluster.start();
});

it("Slurm requeues no job, and a drained node ends its job: the next stage runs elsewhere", async (at) => {
  slow(at, { next: true });
  const said = start(at, "--executor", "slurm");
  await until("the job", () => at.executions().slow === 1);
  const job = cluster.slurm("squeue", "--noheader", "--states=RUNNING", "--format=%i").trim();
  assert.throws(() => cluster.slurm("scontrol", "requeue", job), /disabled/);
  const node = nodeOf(at, "slow");
  cluster.slurm("scontrol", "update", `nodename=${node}`, "state=drain", "reason=test");
  goOn(at);
  const { code, stdout, stderr } = await said.ended;
  cluster.resume();
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(at.executions(), { next: 1, slow: 1 });
  assert.notEqual(nodeOf(at, "next"), node);
});

it("status names a job's node and its time in the queue, and Ctrl-C ends the job", async (at) => {
  slow(at);
  const said = start(at, "--executor", "slurm");
  await until("the job", () => at.executions().slow === 1);
  const status = await at.pipeline(["status", at.name, "--root", at.root]);
  assert.match(status.stdout, /\n {2}slow {2}for [\d.]+ m?s on n[12], queued [\d.]+ m?s before\n/);
  said.child.kill("SIGINT");
  assert.equal((await said.ended).code, 130);
  assert.deepEqual(leftovers(at), []);
});

it("a stage that no job can carry out is refused before anything starts", async (at) => {
  at.define({
    stages: { other: { command: "true" }, needsKey: { command: "echo key", secrets: ["SOME_KEY"] } },
  });
  const { code, stderr } = await run(at, "--executor", "slurm");
  assert.equal(code, 2);
  assert.match(stderr, /not-on-slurm: "needsKey" gets secrets \(SOME_KEY\)/);
  assert.match(stderr, /stages: \{ needsKey: \{ executor: local \} \}/);
});

it("doctor finds what a node has by a small job, and leaves nothing", async (at) => {
  const said = await doctor(at, "slurm-smoke");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { checks } = said.lines.find(({ event }) => event === "profile")!;
  const answers = Object.fromEntries(checks.map(({ name, answer }: Line) => [name, answer]));
  assert.deepEqual(answers, {
    ...{ plan: "works", "slurm (default partition)": "works", "node's shared disk": "works" },
    ...{ "node's python": "works", "node's processor": "works", "node's network": "works" },
    ...{ "node's walls": "works", "node's sandbox": "note", "node's disk": "works" },
  });
  assert.deepEqual(readdirSync(at.root), []);
});

it("doctor says which job Slurm would refuse, why, and what the cluster has", async (at) => {
  repository.edit(
    "pipelines/full-benchmark.yaml",
    "    executor: slurm\n",
    "    executor: slurm\n    slurm: { partition: gone }\n",
  );
  const said = await doctor(at, "slurm-smoke");
  repository.edit("pipelines/full-benchmark.yaml", "    slurm: { partition: gone }\n", "");
  assert.equal(said.code, 1);
  const { checks } = said.lines.find(({ event }) => event === "profile")!;
  const { found, help } = checks.find(({ name }: Line) => name === "slurm gone");
  assert.match(
    found,
    /^refuses the jobs of .*: Invalid partition name specified \(they ask for --cpus-per-task=/,
  );
  assert.match(help, /partitions: main\*, low;/);
});

it("the smoke benchmark of one task as jobs gives this host's verdicts and scores", async ({ root, t }) => {
  const notDrawn = smokesIn("slurm");
  if (notDrawn) return t.skip(notDrawn);
  const here = await benchmarkState();
  shareEnvironments(root);
  const args = ["run", "hello", "--profile", "slurm-smoke", "--json", "--root", root];
  const env = { ...indexVariables(), ...cluster.env };
  const one = startProgram(repository.path, args, { env });
  started.push(one);
  const said = await one.ended;
  const failed = said.stdout.split("\n").filter((line) => line.includes('"outcome":"failed"'));
  assert.equal(said.code, 0, [...failed, said.stderr].join("\n"));
  assert.deepEqual(leftovers({ root }), []);
  const attempts = (of: string, profile: string) =>
    (JSON.parse(readFileSync(join(of, "results/hello", profile, "report.json"), "utf8")) as Line)
      .attempts as Line[];
  const comparable = ({ task, submission, verdict, scores }: Line) => ({ task, submission, verdict, scores });
  const there = attempts(root, "slurm-smoke").map(comparable);
  assert.deepEqual(there, attempts(here.root, "smoke").map(comparable));
  const scores = Object.values<Line>(there[0]!.scores);
  assert.ok(
    scores.length > 0 && scores.every(({ value, items }) => Number.isFinite(value) && items > 0),
    JSON.stringify(scores),
  );
  assert.deepEqual(new Set(actionsIn(root).map(({ ran }) => ran.executor)), new Set(["slurm"]));
}, 20);

function doctor(at: Lab, profile: string) {
  mkdirSync(at.root, { recursive: true });
  const args = ["doctor", "hello", "--profile", profile, "--json", "--root", at.root];
  return at.pipeline(args, { env: cluster.env });
}

/** The bytes that a run published, under whatever profile. */
function published(files: Record<string, string>): string[] {
  return [...new Set(Object.entries(files).flatMap(([path, text]) => (path.endsWith("/all") ? [text] : [])))];
}

/** A stage that waits for `goOn`, and with `next` one that needs it. */
function slow(
  at: Lab,
  { profiles, next = false }: { profiles?: Record<string, unknown>; next?: boolean } = {},
): void {
  mkdirSync(at.root, { recursive: true });
  const go = join(at.outside, "go");
  at.define({
    ...(profiles && { profiles }),
    stages: {
      slow: {
        command: counted(at, "slow", `until test -e '${go}'; do sleep 0.1; done; echo done > {outputs.text}`),
        gives: { text: "file" },
      },
      ...(next && { next: { needs: ["slow.text"], command: counted(at, "next", "cat {inputs.text}") } }),
    },
  });
}

function goOn(at: Lab): void {
  writeFileSync(join(at.outside, "go"), "");
}

/** On which a stage's job began last. */
function nodeOf(at: Lab, stage: string): string {
  const lines = journals(at)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
  return lines.findLast(({ event, stage: of }) => event === "placed" && of === stage)!.node;
}

function journals({ root }: Lab): string {
  const folder = join(root, ".mlrb/journals");
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];
  return files.map((name) => readFileSync(join(folder, name), "utf8")).join("");
}
