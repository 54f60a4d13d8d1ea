// Attempts of a model as jobs of a real Slurm, of two nodes on loopback: the key stays with the submitting host's
// supervisor, calls go through its relay, and the attempt continues after preemption, kills and lost channels.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { groupsMissing } from "@mlrb/agents/testing/groups-missing";
import { defineLlmAttempt, keyName, recorded, shell, submit } from "./support/attempts/llm-attempts.ts";
import { filesBelow, type Lab, lab, leftovers } from "./support/lab.ts";
import { fakeGpus, fakeNvidia } from "./support/machines/fake-nvidia.ts";
import { type SlurmCluster, slurmCluster } from "./support/machines/slurm-cluster.ts";
import { isRunning, stepsIn, supervisorsIn, until } from "./support/processes.ts";
import { type Script, startLoopbackProvider } from "./support/providers/loopback-provider.ts";
import type { Started } from "./support/run-program.ts";
import { model } from "./support/servers/model-service.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
let cluster: SlurmCluster;
let why: string | false = (await groupsMissing(["memory"])) ?? false;
before(async () => {
  if (why !== false) return;
  const started = await slurmCluster({ cpus: 2, gpus: 1 });
  if ("skip" in started) why = started.skip;
  else cluster = started;
});
after(async () => {
  await cluster?.stop();
  repository.remove();
});

const key = "key-of-the-login-node-77";
const work = [
  shell("mkdir -p submission && echo one > submission/model"),
  shell("echo two >> submission/model"),
  shell("echo three >> submission/model"),
  submit(),
];

/** A test that skips, with a reason, if there is no Slurm. */
function it(title: string, body: (at: Lab, t: TestContext) => Promise<void>): void {
  test(title, { timeout: 120_000 }, async (t) => {
    if (why !== false) return t.skip(why);
    t.after(endAll);
    await body(lab(t, repository), t);
    await until("the end of all jobs", () => cluster.jobs().length === 0);
  });
}

const started: Started[] = [];
async function endAll(): Promise<void> {
  for (const one of started.splice(0)) {
    one.child.kill("SIGKILL");
    await one.ended;
  }
  cluster.slurm("scancel", "--user=root");
}

function start(at: Lab, variables: Record<string, string> = {}): Started {
  const env = { ...variables, ...cluster.env, [keyName]: key, TERM: "dumb", COLUMNS: "200" };
  const one = at.start(["run", at.name, "--json", "--yes", "--root", at.root], { env });
  started.push(one);
  return one;
}

/**
 * Plays `work` by the conversation so far, and holds the answer number `held` until it is let go. From then on
 * only `keyAfter` is a right key.
 */
async function heldProvider(t: TestContext, held = -1, keyAfter?: string) {
  const gate = Promise.withResolvers<void>();
  const script: Script = async ({ messages, headers }) => {
    const at = messages.filter(({ role }) => role === "tool").length;
    if (at === held) await gate.promise;
    if (keyAfter !== undefined && at >= held && !headers.authorization?.endsWith(keyAfter))
      return { status: 401, complaint: "wrong-key" };
    return work[at]!;
  };
  const served = await startLoopbackProvider({ script, key: keyAfter === undefined ? key : null });
  t.after(() => served.close());
  t.after(() => gate.resolve());
  return { served, letGo: () => gate.resolve() };
}

const onSlurm = { executor: "slurm", slurm: { partition: "low" }, resources: { memory: "1GiB" } };
/** Of the submission that this host makes. */
let expectedDigest = "";
const digestOf = (record: unknown) =>
  (record as { outputs: { submission: { digest: string } } }).outputs.submission.digest;

it("an attempt as a job gives this host's submission, and its key reaches neither node nor disk", async (at, t) => {
  const { served: here } = await heldProvider(t);
  defineLlmAttempt(at, here);
  const local = await start(at).ended;
  assert.equal(local.code, 0, local.stdout + local.stderr);
  const expected = recorded(at);
  expectedDigest = digestOf(expected.record);

  const other = lab(t, repository);
  const { served, letGo } = await heldProvider(t, 2);
  const nvidia = fakeNvidia(join(other.outside, "nvidia"), fakeGpus(1));
  const slurm = { ...onSlurm.slurm, gres: "gpu:a100" };
  const resources = { ...onSlurm.resources, gpus: 1 };
  defineLlmAttempt(other, served, { attempt: { ...onSlurm, slurm, resources } });
  const run = start(other, { PATH: `${nvidia.bin}:${process.env.PATH}` });
  await until("the third call", () => served.seen.length === 3, 60_000);
  for (const pid of stepsIn(other.root))
    assert.ok(
      !readFileSync(`/proc/${pid}/environ`, "latin1").includes(key),
      "a process of the node has the key",
    );
  letGo();
  const said = await run.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { record, events } = recorded(other);
  assert.equal(digestOf(record), digestOf(expected.record));
  assert.equal(served.seen.length, 4);
  assert.equal(served.turnedAway(), 0);
  const calls = (of: typeof events) => of.filter(({ event }) => event === "model-call").length;
  assert.equal(calls(events), calls(expected.events));
  for (const [file, text] of Object.entries(filesBelow(join(other.root, ".mlrb"))))
    assert.ok(!text.includes(key), `${file} holds the key`);
  const { where } = (record as { ran: { where: Record<string, string> } }).ran;
  assert.equal(where.executor, "slurm");
  assert.match(`${where.gpus}`, /^Fake A100-SXM4-80GB \(GPU-0/);
  assert.match(journals(other), /"event":"placed"[^\n]*"queuedMs":\d+/);
  assert.match(`${where.job} ${where.node} ${where.sandbox}`, /^\d+ n[12] bubblewrap /);
});

/** A folder for the PATH whose programs of these names fail, as where they are not installed. */
function failing(at: Lab, ...names: string[]): string {
  const bin = join(at.outside, "failing");
  mkdirSync(bin, { recursive: true });
  for (const name of names) writeFileSync(join(bin, name), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  return `${bin}:${process.env.PATH}`;
}

it("on a node where nothing isolates an agent the attempt is refused before a model is called", async (at, t) => {
  const { served } = await heldProvider(t);
  defineLlmAttempt(at, served, { attempt: onSlurm });
  const said = await start(at, { PATH: failing(at, "bwrap") }).ended;
  assert.equal(said.code, 1);
  assert.match(
    said.stdout,
    /there is no sandbox to run it in: bubblewrap cannot be used here: .*conda install.*executor: local/,
  );
  assert.equal(served.seen.length, 0);
});

it("a preempted attempt is submitted again with one call repeated, and one that a person cancels is not", async (at, t) => {
  const { served } = await heldProvider(t, 2);
  defineLlmAttempt(at, served, { attempt: onSlurm });
  const run = start(at);
  await until("the third call", () => served.seen.length === 3, 60_000);
  cluster.slurm(
    "sbatch",
    ...["--partition=main", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=true"],
  );
  await until("the preemption", () => /was preempted by another/.test(journals(at)), 60_000);
  await until("the call in the next job", () => served.seen.length === 4, 60_000);
  cluster.slurm("scancel", "--user=root");
  const { code, stdout } = await run.ended;
  assert.equal(code, 1);
  assert.match(stdout, /cancelled by another person or program/);
  assert.equal(served.seen.length, 4);
  const lost = join(at.root, ".mlrb/attempts/lost");
  assert.equal(readdirSync(lost).length, 1, "its work is kept");
});

it("after kill -9 of run and supervisor the next run adopts the job, whose calls then take a person's new key", async (at, t) => {
  const newKey = "key-of-the-next-month-78";
  const { served, letGo } = await heldProvider(t, 2, newKey);
  defineLlmAttempt(at, served, { attempt: onSlurm });
  const first = start(at);
  await until("the third call", () => served.seen.length === 3, 60_000);
  first.child.kill("SIGKILL");
  for (const pid of supervisorsIn(at.root)) process.kill(pid, "SIGKILL");
  await first.ended;
  assert.equal(cluster.jobs().length, 1);
  letGo();
  const second = start(at);
  const running = join(at.root, ".mlrb/attempts/running");
  const waiting = () => existsSync(join(running, readdirSync(running)[0]!, "waiting.json"));
  await until("the old key to be refused", () => served.seen.length === 4 && waiting(), 60_000);
  const resumed = await at.pipeline(["attempts", "resume", "--root", at.root], {
    env: { [keyName]: newKey },
  });
  assert.equal(resumed.code, 0, resumed.stderr);
  const said = await second.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, record } = recorded(at);
  assert.equal(digestOf(record), expectedDigest);
  assert.equal(ledger.resumed, undefined, "its step went on");
  assert.equal(served.seen.length, 6, "one call was cut, and one refused");
  for (const [file, text] of Object.entries(filesBelow(join(at.root, ".mlrb"))))
    assert.ok(!text.includes(newKey), `${file} holds the new key`);
});

it("SIGTERM to every process of the submitting host leaves the job to the next run, and one cancelled meanwhile is not submitted again", async (at, t) => {
  const { served } = await heldProvider(t, 2);
  defineLlmAttempt(at, served, { attempt: onSlurm });
  const run = start(at);
  await until("the third call", () => served.seen.length === 3, 60_000);
  for (const pid of [...supervisorsIn(at.root), run.child.pid!]) process.kill(pid, "SIGTERM");
  const left = await run.ended;
  assert.match(left.stdout, /"event":"attempt-left"|"became":"broken-off"/);
  await until("the end of the supervisor", () => supervisorsIn(at.root).length === 0);
  assert.equal(cluster.jobs().length, 1);
  cluster.slurm("scancel", "--user=root");
  await until("the end of the job", () => cluster.jobs().length === 0);
  const { code, stdout } = await start(at).ended;
  assert.equal(code, 1);
  assert.match(stdout, /cancelled by another person or program/);
  assert.equal(served.seen.length, 3);
  assert.equal(readdirSync(join(at.root, ".mlrb/attempts/lost")).length, 1, "its work is kept");
});

it("after kill -9 of the run the supervisor submits the next job of a preempted attempt, with a person's new key", async (at, t) => {
  const newKey = "key-of-the-next-month-79";
  const gate = Promise.withResolvers<void>();
  let refused = 0;
  const script: Script = async ({ messages, headers }) => {
    const step = messages.filter(({ role }) => role === "tool").length;
    if (step > 0 && !headers.authorization?.endsWith(newKey)) {
      refused++;
      return { status: 401, complaint: "wrong-key" };
    }
    if (step === 2) await gate.promise;
    return work[step]!;
  };
  const served = await startLoopbackProvider({ script, key: null });
  t.after(() => served.close());
  t.after(() => gate.resolve());
  defineLlmAttempt(at, served, { attempt: onSlurm });
  const run = start(at);
  await until("the refusal", () => refused === 1, 60_000);
  const running = join(at.root, ".mlrb/attempts/running");
  const name = readdirSync(running)[0]!;
  await until("the wait for a person", () => existsSync(join(running, name, "waiting.json")));
  run.child.kill("SIGKILL");
  await run.ended;
  const env = { [keyName]: newKey };
  const resumed = await at.pipeline(["attempts", "resume", "--root", at.root], { env });
  assert.equal(resumed.code, 0, resumed.stderr);
  await until("the third call", () => served.seen.length === 4, 60_000);
  const all = ["--partition=main", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=true"];
  cluster.slurm("sbatch", ...all);
  await until("the call in the next job", () => served.seen.length === 5, 90_000);
  gate.resolve();
  const said = await start(at).ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, record } = recorded(at);
  assert.equal(digestOf(record), expectedDigest);
  assert.equal(ledger.resumed, 1);
  assert.equal(refused, 1, "no later job asks with the old key");
  for (const [file, text] of Object.entries(filesBelow(join(at.root, ".mlrb"))))
    assert.ok(!text.includes(newKey) && !text.includes(key), `${file} holds a key`);
});

it("an attempt that is longer than its partition's limit continues in a second job, and a lost channel is opened again", async (at, t) => {
  const { served, letGo } = await heldProvider(t, 2);
  cluster.slurm("scontrol", "create", "PartitionName=short", "Nodes=ALL", "MaxTime=1");
  const slurm = { partition: "short" };
  defineLlmAttempt(at, served, { attempt: { ...onSlurm, slurm, budget: { time: "5m" } } });
  const run = start(at);
  await until("the third call", () => served.seen.length === 3, 60_000);
  for (const pid of channelsOf(at)) process.kill(pid, "SIGKILL");
  await until("the call to be sent again", () => served.seen.length === 4);
  await until("the end of the first job", () => /the time of its job was over/.test(journals(at)), 70_000);
  letGo();
  const said = await run.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  const { ledger, record } = recorded(at);
  assert.equal(digestOf(record), expectedDigest);
  assert.equal(ledger.resumed, 1);
  assert.ok(
    served.seen.length <= 6,
    `${served.seen.length} calls: one more for the channel, one for the job`,
  );
});

it("a service of this host answers an attempt on a node, also after its server was started again", async (at, t) => {
  const { served, letGo } = await heldProvider(t, 2);
  const { stage, pids } = model(at, { for: ["attempt"] }, served.url);
  const stages = { model: stage };
  defineLlmAttempt(at, { baseUrl: "{services.model.url}/v1" }, { attempt: { executor: "slurm" }, stages });
  const run = start(at);
  await until("the third call", () => served.seen.length === 3, 60_000);
  process.kill(pids()[0]!, "SIGKILL");
  await until("the next server", () => pids().length === 2, 60_000);
  letGo();
  const said = await run.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(digestOf(recorded(at).record), expectedDigest);
  assert.equal(served.seen.length, 5, "one call is sent again");
  assert.deepEqual([pids().length, pids().filter(isRunning).length], [2, 0]);
  assert.deepEqual(leftovers(at), []);
});

/** The programs of Slurm that carry the calls of the lab's attempts. */
function channelsOf({ root }: Lab): number[] {
  const read = (path: string) => readFileSync(`/proc/${path}`, "utf8");
  const children = supervisorsIn(root).flatMap((pid) => read(`${pid}/task/${pid}/children`).split(" "));
  const found = children.filter((pid) => pid !== "" && read(`${pid}/cmdline`).startsWith("srun")).map(Number);
  assert.ok(found.length > 0);
  return found;
}

function journals({ root }: Lab): string {
  const folder = join(root, ".mlrb/journals");
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];
  return files.map((name) => readFileSync(join(folder, name), "utf8")).join("");
}
