// Runs whose stages are jobs on nodes that share no disk with the runner: their files go through a remote cache, a real
// nginx. Each node has an empty folder of its own in place of the state folder.
import assert from "node:assert/strict";
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { groupsMissing } from "@mlrb/agents/testing/groups-missing";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { defineLlmAttempt, keyName, recorded, shell, submit } from "./support/attempts/llm-attempts.ts";
import { counted, type Lab, lab, leftovers, outcomes, results } from "./support/lab.ts";
import { type SlurmCluster, slurmCluster } from "./support/machines/slurm-cluster.ts";
import { until } from "./support/processes.ts";
import { LOOPBACK_KEY, startLoopbackProvider } from "./support/providers/loopback-provider.ts";
import { CacheServer, cacheToken, nginx } from "./support/servers/cache-server.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-unshared-")));
const root = join(above, "root");
const server = new CacheServer(nginx);
let cluster: SlurmCluster;
let why: string | false = nginx.missing;
before(async () => {
  if (why !== false) return;
  mkdirSync(join(root, ".mlrb"), { recursive: true });
  const started = await slurmCluster({ cpus: 2, unshared: join(root, ".mlrb") });
  if ("skip" in started) why = started.skip;
  else {
    cluster = started;
    await server.start();
  }
});
after(async () => {
  await cluster?.stop();
  await server.stop();
  repository.remove();
  removeFolder(above);
});

function it(title: string, body: (at: Lab, t: TestContext) => Promise<void>): void {
  test(title, { timeout: 5 * 60_000 }, async (t: TestContext) => {
    if (why !== false) return t.skip(why);
    await body(lab(t, repository, { root }), t);
    await until("the end of all jobs", () => cluster.jobs().length === 0);
    assert.deepEqual(leftovers({ root }), []);
  });
}

const run = (at: Lab, ...more: string[]) => start(at, {}, ...more).ended;

type Variables = { variables?: Record<string, string> };

function start(at: Lab, { variables }: Variables, ...more: string[]) {
  const cache = { MLRB_REMOTE_CACHE: server.address, MLRB_REMOTE_CACHE_TOKEN: cacheToken };
  const args = ["run", at.name, "--json", "--root", root, "--remote-cache", "off", ...more];
  return at.start(args, { env: { ...variables, ...cluster.env, ...cache } });
}

const profiles = {
  here: { default: true },
  there: { executor: "slurm", slurm: { files: "remote-cache" } },
};

/** A stage that waits for `goOn`. */
function slow(at: Lab): void {
  const go = join(at.outside, "go");
  const wait = `echo on the node; until test -e '${go}'; do sleep 0.1; done; echo done > {outputs.text}`;
  at.define({ profiles, stages: { slow: { command: counted(at, "slow", wait), gives: { text: "file" } } } });
}

function goOn(at: Lab): void {
  writeFileSync(join(at.outside, "go"), "");
}

function journals(): string {
  const folder = join(root, ".mlrb/journals");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
}

it("files, folders and collected ones reach nodes and come back, under the keys of a run on this host", async (at) => {
  at.define({
    axes: { word: ["alpha", "beta"] },
    profiles,
    stages: {
      source: {
        command: `mkdir -p {outputs.all}/deep; printf 'echo a program' > {outputs.all}/deep/program; chmod +x {outputs.all}/deep/program; : > "{outputs.all}/an empty file"`,
        gives: { all: "dir" },
      },
      both: {
        each: ["word"],
        needs: ["source.all"],
        command: `(test -x {inputs.all}/deep/program && ls {inputs.all}; echo {word}) > {outputs.text}; test ! -e '${root}/.mlrb/format.json'; echo "this is {word}"`,
        gives: { text: "file" },
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
  assert.equal(journals().match(/"event":"placed"[^\n]*"node":"n[12]"/g)?.length, 4);
  const text = Object.entries(results({ root })).find(([path]) => path.endsWith("/all"))?.[1] ?? "";
  assert.match(text, /an empty file\ndeep\nalpha\nan empty file\ndeep\nbeta\n$/);
  const here = await run(at);
  assert.deepEqual(new Set(Object.values(outcomes(here))), new Set(["reused"]));
  for (const part of ["a program", "an empty file", "{inputs"])
    assert.ok(!server.requests.includes(part), "the server reads no file");
});

it("after kill -9 of the runner, the next run continues its job and gets its result", async (at) => {
  slow(at);
  const first = start(at, {}, "--profile", "there");
  await until("the job", () => at.executions().slow === 1);
  await until("its beginning", () => {
    const lines = journals().split("\n");
    return lines.some((line) => line.includes('"event":"placed"') && line.includes('"slow"'));
  });
  first.child.kill("SIGKILL");
  await first.ended;
  const second = start(at, {}, "--profile", "there");
  await until("the adoption", () => journals().includes('"event":"adopt"'));
  goOn(at);
  const said = await second.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.deepEqual(at.executions(), { slow: 1 });
});

it("a server that is away while a job ends delays its result, and changes nothing", async (at) => {
  slow(at);
  const said = start(at, {}, "--profile", "there");
  await until("the job", () => at.executions().slow === 1);
  await server.leave();
  goOn(at);
  await new Promise((done) => setTimeout(done, 4_000));
  await server.start();
  const { code, stdout, stderr } = await said.ended;
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(at.executions(), { slow: 1 });
});

it("an input that the server changed is refused by the node, and sent again for the second try", async (at) => {
  const needs = {
    needs: ["source.text"],
    command: "cp {inputs.text} {outputs.text}",
    gives: { text: "file" },
  };
  const source = { command: "echo 1 > {outputs.text}", gives: { text: "file" } };
  const before = new Set(server.names("cas"));
  const mixed = { ...profiles.there, stages: { source: { executor: "local" } } };
  at.define({ profiles: { ...profiles, there: mixed }, stages: { source, copy: needs } });
  cluster.slurm("scontrol", "update", "nodename=ALL", "state=drain", "reason=test");
  const said = start(at, {}, "--profile", "there");
  await until("the parcels", () => server.names("cas").filter((name) => !before.has(name)).length === 2);
  await until("the job", () => cluster.jobs().length === 1);
  for (const name of server.names("cas")) if (!before.has(name)) server.spoil("cas", name);
  cluster.resume();
  const { code, stdout, stderr } = await said.ended;
  assert.equal(code, 0, stdout + stderr);
  assert.match(journals(), /other bytes|digest[^\n]*"event":"retry"/);
});

it("Ctrl-C ends the job with its processes", async (at) => {
  slow(at);
  const said = start(at, {}, "--profile", "there");
  await until("the job", () => at.executions().slow === 1);
  said.child.kill("SIGINT");
  assert.notEqual((await said.ended).code, 0);
});

it("another clone on the node, or no server, is refused with the way out", async (at) => {
  const words = at.script("words.txt", "the runner's");
  at.define({ profiles, stages: { one: { command: `cat ${words}`, files: [words] } } });
  const args = ["run", at.name, "--json", "--root", root, "--profile", "there"];
  const without = await at.pipeline(args, { env: cluster.env });
  assert.equal(without.code, 2);
  assert.match(without.stderr, /no-remote-cache[\s\S]*set MLRB_REMOTE_CACHE/);
  cluster.slurm("scontrol", "update", "nodename=ALL", "state=drain", "reason=test");
  const said = start(at, {}, "--profile", "there");
  await until("the job", () => cluster.jobs().length === 1);
  repository.write(words, "another commit's");
  cluster.resume();
  const { code, stdout } = await said.ended;
  assert.equal(code, 1);
  assert.match(
    stdout,
    /words.txt on the node differs from the runner's: bring both clones to the same commit/,
  );
});

const work = [
  shell(
    "mkdir -p submission && echo one > submission/model && head -c 1500000 /dev/zero > submission/weights",
  ),
  shell("echo two >> submission/model"),
  shell("echo three >> submission/model"),
  submit(),
];

/** An attempt of a model whose third answer is held until it is let go. */
async function heldAttempt(at: Lab, t: TestContext, stage: Record<string, unknown> = {}) {
  const missing = await groupsMissing(["memory"]);
  if (missing !== undefined) return t.skip(missing);
  const gate = Promise.withResolvers<void>();
  const served = await startLoopbackProvider({
    async script({ messages }) {
      const answered = messages.filter(({ role }) => role === "tool").length;
      if (answered === 2) await gate.promise;
      return work[answered]!;
    },
  });
  t.after(() => served.close());
  t.after(() => gate.resolve());
  defineLlmAttempt(at, served, { attempt: stage });
  const variables = { [keyName]: LOOPBACK_KEY };
  return { served, letGo: () => gate.resolve(), variables };
}

const travelling = {
  executor: "slurm",
  slurm: { files: "remote-cache" },
  resources: { memory: "1GiB" },
};

/** Texts of the files of running attempts on this host. */
const running = (file: string) =>
  globSync(join(root, ".mlrb/attempts/running/*", file)).map((path) => readFileSync(path, "utf8"));

it("an attempt whose job is ended and whose node dies goes on from its checkpoints, and gives this host's submission", async (at, t) => {
  const here = lab(t, repository);
  const local = await heldAttempt(here, t);
  if (!local) return;
  local.letGo();
  const alone = await here.pipeline(["run", here.name, "--yes", "--root", here.root], {
    env: local.variables,
  });
  assert.equal(alone.code, 0, alone.stdout + alone.stderr);
  const expected = recorded(here);

  const { served, letGo, variables } = (await heldAttempt(at, t, travelling))!;
  const said = start(at, { variables }, "--yes");
  await until("the third call", () => served.seen.length === 3, 60_000);
  const node = () => /.*"event":"placed"[^\n]*"node":"(n[12])"/s.exec(journals())![1]!;
  cluster.slurm("scancel", "--batch", "--signal=TERM", "--user=root"); // as a cluster that warns its jobs
  await until("the call in the next job", () => served.seen.length === 4, 60_000);
  const ofFirst = running("checkpoint-parcel.json");
  assert.equal(ofFirst.length, 1, "its files were kept at the end of its job");
  await until(
    "a checkpoint of the second job",
    () => running("checkpoint-parcel.json")[0] !== ofFirst[0],
    60_000,
  );
  const trajectory = running("out/trajectory.jsonl")[0]!;
  assert.equal(
    trajectory.match(/"event":"model-call"/g)?.length,
    2,
    "the host has what came before the call",
  );
  assert.equal(
    globSync(join(root, ".mlrb/attempts/running/*/attempt-*")).length,
    0,
    "the workspace is the node's",
  );
  await cluster.crashNode(node());
  letGo();
  const { code, stdout, stderr } = await said.ended;
  assert.equal(code, 0, stdout + stderr);
  const { record, ledger, events } = recorded(at);
  const submissionOf = (of: unknown) =>
    (of as { outputs: { submission: { digest: string } } }).outputs.submission.digest;
  assert.equal(submissionOf(record), submissionOf(expected.record));
  assert.deepEqual(
    Object.keys((record as { outputs: object }).outputs),
    Object.keys((expected.record as { outputs: object }).outputs),
  );
  assert.equal(ledger.resumed, 2);
  assert.equal(events.filter(({ event }) => event === "model-call").length, 4);
  assert.equal(served.seen.length, 6, "each job repeated the call in flight, and no other");
  await cluster.start();
});

it("a server that is away from a checkpoint to the end of an attempt delays it, and its log says so", async (at, t) => {
  const held = await heldAttempt(at, t, travelling);
  if (!held) return;
  const { served, letGo, variables } = held;
  const said = start(at, { variables }, "--yes");
  await until("the third call", () => served.seen.length === 3, 60_000);
  await server.leave();
  await until(
    "the news of the checkpoint",
    () => /a checkpoint waits for the remote cache, and the agent goes on/.test(running("log").join("")),
    60_000,
  );
  letGo();
  await until(
    "the end",
    () => /the end of its job waits for the remote cache/.test(running("log").join("")),
    60_000,
  );
  assert.equal(served.seen.length, 4);
  await server.start();
  const { code, stdout, stderr } = await said.ended;
  assert.equal(code, 0, stdout + stderr);
  const { ledger, events } = recorded(at);
  assert.equal(ledger.resumed, undefined);
  assert.equal(events.filter(({ event }) => event === "checkpoint").length > 0, true);
});
