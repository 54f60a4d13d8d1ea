// An attempt outlives the run that began it: its supervisor goes on, the next run goes on with it, and what
// ends with nobody there is kept by whichever run comes next. What is lost is told, never passed over.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { recordsIn } from "./support/end-state.ts";
import { counted, type Lab, lab, leftovers, outcomes } from "./support/lab.ts";
import { until } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const only = process.platform === "linux" ? {} : { skip: "needs Linux: processes are found in /proc" };

/** An attempt that begins, waits until the test says `go`, says when it was, and hands something in. */
function define(at: Lab): void {
  const wait = [
    "mkdir -p {outputs.notes}; echo half > {outputs.notes}/half",
    `echo begun; touch '${at.outside}/begun'`,
    `while [ ! -e '${at.outside}/go' ]; do sleep 0.05; done`,
    "echo done > {outputs.text}; echo said at the end",
  ].join("; ");
  at.define({
    stages: {
      attempt: {
        command: counted(at, "attempt", wait),
        durable: true,
        gives: { text: "file", notes: "dir" },
      },
      use: { needs: ["attempt.text"], command: counted(at, "use", "cat {inputs.text}") },
    },
  });
}

const begun = (at: Lab) => until("the attempt to begin", () => existsSync(join(at.outside, "begun")));
const go = (at: Lab) => writeFileSync(join(at.outside, "go"), "");
const args = (at: Lab) => ["run", at.name, "--json", "--root", at.root];
const plain = (at: Lab) => ["run", at.name, "--root", at.root];
const running = (at: Lab) => join(at.root, ".mlrb/attempts/running");
const folderOf = (at: Lab) => join(running(at), readdirSync(running(at))[0]!);
const supervisorOf = (at: Lab) =>
  (JSON.parse(readFileSync(join(folderOf(at), "supervisor.json"), "utf8")) as { pid: number }).pid;

/** Begins the attempt, and kills its run with -9; gives the supervisor that goes on. */
async function orphan(at: Lab): Promise<number> {
  const first = at.start(args(at));
  await begun(at);
  const supervisor = supervisorOf(at);
  first.child.kill("SIGKILL");
  await first.ended;
  return supervisor;
}

/** Empty of one that is gone, or dead and not yet reaped. */
function commandOf(pid: number): string {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

test(
  "kill -9 of the runner in mid-attempt: the next run goes on with it, nothing runs twice, its time counts from its start",
  only,
  async (t) => {
    const at = lab(t, repository);
    define(at);
    const supervisor = await orphan(at);
    const since = Date.now();
    assert.match(commandOf(supervisor), /supervisor/);
    const planned = await at.plan();
    assert.match(planned.stdout, /"kind":"goes-on"/);

    const second = at.start(plain(at));
    await until("the second run to adopt it", () => second.stderr().includes("goes on attempt"));
    const waited = Date.now() - since;
    go(at);
    const said = await second.ended;
    assert.equal(said.code, 0, said.stdout + said.stderr);
    assert.deepEqual(at.executions(), { attempt: 1, use: 1 });
    assert.deepEqual(leftovers(at), []);
    assert.deepEqual(readdirSync(running(at)), []);
    const [held] = recordsIn(at.root);
    assert.ok((held!.record.ran as { durationMs: number }).durationMs >= waited, "its clock went on");
    const log = readFileSync(join(at.root, ".mlrb/attempts/records", held!.digest, "log"), "utf8");
    assert.equal(log, "begun\nsaid at the end\n");
  },
);

test("an attempt that ends with no run there is kept by the next run of any pipeline", only, async (t) => {
  const at = lab(t, repository);
  define(at);
  const first = at.start(args(at));
  await begun(at);
  const folder = folderOf(at);
  first.child.kill("SIGKILL");
  await first.ended;
  go(at);
  await until("the attempt to end", () => existsSync(join(folder, "end.json")));
  const other = lab(t, repository, { root: at.root });
  other.define({ stages: { one: { command: "true" } } });
  const said = await other.run();
  assert.equal(said.code, 0, said.stderr);
  assert.match(said.stderr, /kept {4}attempt {2}\(begun .* by run .*, which is gone\)/);
  assert.equal(recordsIn(at.root).length, 1);
  assert.equal(outcomes(await at.run()).attempt, "reused");
  assert.deepEqual(at.executions(), { attempt: 1, use: 1 });
});

test(
  "a supervisor that is killed fails the attempt as the machine's doing, ends what it started and keeps what was done",
  only,
  async (t) => {
    const at = lab(t, repository);
    define(at);
    const first = at.start(args(at));
    await begun(at);
    const folder = folderOf(at);
    process.kill(supervisorOf(at), "SIGKILL");
    const said = await first.ended;
    assert.equal(said.code, 1, said.stdout);
    assert.equal(outcomes(said).attempt, "failed");
    assert.match(said.stdout + said.stderr, /its supervisor ended without a word/);
    assert.equal(existsSync(folder), false);
    const lost = join(at.root, ".mlrb/attempts/lost");
    assert.equal(readFileSync(join(lost, readdirSync(lost)[0]!, "out/notes/half"), "utf8"), "half\n");
    assert.equal(recordsIn(at.root).length, 0);
    go(at);
    const again = await at.run();
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(at.executions(), { attempt: 2, use: 1 });
    assert.deepEqual(leftovers(at), []);
  },
);

test(
  "runner and supervisor killed: the next run tells that the attempt was lost, and begins it anew",
  only,
  async (t) => {
    const at = lab(t, repository);
    define(at);
    const supervisor = await orphan(at);
    process.kill(supervisor, "SIGKILL");
    go(at);
    const said = await at.run();
    assert.equal(said.code, 0, said.stderr);
    assert.match(said.stderr, /lost {4}attempt {2}\(its supervisor.*kept in \.mlrb\/attempts\/lost/);
    assert.deepEqual(at.executions(), { attempt: 2, use: 1 });
  },
);

test("Ctrl-C of the run that adopted an attempt ends it, and leaves nothing", only, async (t) => {
  const at = lab(t, repository);
  define(at);
  await orphan(at);
  const second = at.start(plain(at));
  await until("the second run to adopt it", () => second.stderr().includes("goes on attempt"));
  const supervisor = supervisorOf(at);
  second.child.kill("SIGINT");
  const said = await second.ended;
  assert.equal(said.code, 130, said.stdout + said.stderr);
  assert.equal(commandOf(supervisor), "");
  assert.deepEqual(readdirSync(running(at)), []);
  assert.deepEqual(leftovers(at), []);
});

test(
  "a terminal that is closed ends the run and leaves its attempt going, and the next run goes on with it",
  only,
  async (t) => {
    const at = lab(t, repository);
    define(at);
    const first = at.start(args(at));
    await begun(at);
    const supervisor = supervisorOf(at);
    first.child.kill("SIGHUP");
    assert.equal((await first.ended).code, 130);
    assert.match(commandOf(supervisor), /supervisor/);
    go(at);
    const said = await at.run();
    assert.equal(said.code, 0, said.stderr);
    assert.deepEqual(at.executions(), { attempt: 1, use: 1 });
    assert.deepEqual(leftovers(at), []);
  },
);

test("status tells of an attempt that goes on without a run, and attempts stop ends it", only, async (t) => {
  const at = lab(t, repository);
  define(at);
  const first = at.start(args(at));
  await begun(at);
  const held = await at.pipeline(["attempts", "stop", "attempt", "--root", at.root]);
  assert.equal(held.code, 2);
  assert.match(held.stderr, /held-attempt: attempt belongs to run/);
  const supervisor = supervisorOf(at);
  first.child.kill("SIGKILL");
  await first.ended;
  const status = await at.pipeline(["status", at.name, "--root", at.root]);
  assert.match(status.stdout, /attempts that go on without a run\n {2}attempt {2}for/);
  const stopped = await at.pipeline(["attempts", "stop", "attempt", "--root", at.root]);
  assert.equal(stopped.code, 0, stopped.stderr);
  assert.equal(stopped.stdout, "attempt: stopped; nothing of it is kept\n");
  assert.equal(commandOf(supervisor), "");
  assert.deepEqual(readdirSync(running(at)), []);
  const none = await at.pipeline(["attempts", "stop", "attempt", "--root", at.root]);
  assert.match(none.stderr, /no-such-attempt/);
});

test(
  "an attempt whose state somebody has removed ends by itself: nobody could find it again",
  only,
  async (t) => {
    const at = lab(t, repository);
    define(at);
    const supervisor = await orphan(at);
    rmSync(join(at.root, ".mlrb"), { recursive: true, force: true });
    await until("the supervisor to end", () => commandOf(supervisor) === "");
  },
);

test("a run that waits for another's attempt goes on with it when that run is killed", only, async (t) => {
  const at = lab(t, repository);
  define(at);
  const first = at.start(args(at));
  await begun(at);
  const second = at.start(plain(at));
  await until("the second run to wait", () => /wait/i.test(second.stderr()));
  first.child.kill("SIGKILL");
  await first.ended;
  await until("the second run to adopt it", () => second.stderr().includes("goes on attempt"));
  go(at);
  const said = await second.ended;
  assert.equal(said.code, 0, said.stderr);
  assert.deepEqual(at.executions(), { attempt: 1, use: 1 });
});
