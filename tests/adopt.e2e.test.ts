// An attempt outlives its run: the supervisor continues, and the next run continues with the attempt. If an
// attempt ends while no run is active, the next run of any pipeline stores its record. A lost attempt is always
// reported.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { recordsIn } from "./support/end-state.ts";
import { counted, type Lab, lab, leftovers, lineOf, outcomes, reasons } from "./support/lab.ts";
import { until } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const only = process.platform === "linux" ? {} : { skip: "needs Linux: processes are found in /proc" };

/** An attempt that starts, waits until the test writes `go`, prints the time, and submits. */
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

/** Starts the attempt and kills its run with -9; returns the supervisor, which continues. */
async function orphan(at: Lab): Promise<number> {
  const first = at.start(args(at));
  await begun(at);
  const supervisor = supervisorOf(at);
  first.child.kill("SIGKILL");
  await first.ended;
  return supervisor;
}

/** The one quarantined attempt. */
function lostOf(at: Lab): { cause: object; file: (path: string) => string } {
  const lost = join(at.root, ".mlrb/attempts/lost");
  const folder = join(lost, readdirSync(lost)[0]!);
  const file = (path: string) => readFileSync(join(folder, path), "utf8");
  return { cause: JSON.parse(file("cause.json")).cause, file };
}

/** Empty if the process is gone, or dead and not yet reaped. */
function commandOf(pid: number): string {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

test(
  "after kill -9 of the runner the next run continues with the attempt; its clock counts from its first start",
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
    await until("the second run to adopt it", () => second.stderr().includes("adopted attempt"));
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

test("the next run of any pipeline stores the record of an attempt that ended alone", only, async (t) => {
  const at = lab(t, repository);
  define(at);
  const first = at.start(args(at));
  await begun(at);
  const folder = folderOf(at);
  first.child.kill("SIGKILL");
  await first.ended;
  go(at);
  await until("the attempt to end", () => existsSync(join(folder, "end.json")));
  const listed = await at.pipeline(["attempts", "list", "--root", at.root], { env: { COLUMNS: "999" } });
  assert.match(listed.stdout, /^ended {9}\S+Z {2}.* attempt {2}.*; cost /m);
  assert.match(listed.stdout, /^0 attempts, 1 ended/m);
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
  "a killed supervisor fails the attempt with the machine as the cause; its processes end and its files are kept",
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
  "after a kill of runner and supervisor, the next run reports a lost attempt and starts it again",
  only,
  async (t) => {
    const at = lab(t, repository);
    define(at);
    const supervisor = await orphan(at);
    process.kill(supervisor, "SIGKILL");
    go(at);
    const planned = await at.plan();
    assert.equal(reasons(planned, "attempt")[0]!.kind, "lost");
    const said = await at.run();
    assert.equal(said.code, 0, said.stderr);
    assert.match(
      said.stderr,
      /lost {4}attempt {2}\(begun .*: its supervisor ended without a word: it was killed.*kept in \.mlrb\/attempts\/lost/,
    );
    assert.deepEqual(at.executions(), { attempt: 2, use: 1 });
  },
);

test(
  "a second Ctrl-C within ten seconds stops the attempt too; its files are quarantined with the cause",
  only,
  async (t) => {
    const at = lab(t, repository);
    define(at);
    await orphan(at);
    const second = at.start(plain(at));
    await until("the second run to adopt it", () => second.stderr().includes("adopted attempt"));
    const supervisor = supervisorOf(at);
    second.child.kill("SIGINT");
    await until("it to say how to stop it", () => second.stderr().includes("to stop it:"));
    assert.match(second.stderr(), /to stop it: pnpm pipeline attempts stop attempt --root/);
    assert.match(second.stderr(), /the next run continues it: pnpm pipeline run/);
    assert.match(commandOf(supervisor), /supervisor/, "one Ctrl-C leaves it running");
    second.child.kill("SIGINT");
    const said = await second.ended;
    assert.equal(said.code, 130, said.stdout + said.stderr);
    assert.match(said.stderr, /attempt: stopped: by a second Ctrl-C; what it had done is kept in/);
    assert.equal(commandOf(supervisor), "");
    assert.deepEqual(readdirSync(running(at)), []);
    const { cause, file } = lostOf(at);
    assert.deepEqual(cause, { kind: "stopped", detail: "by a second Ctrl-C" });
    assert.equal(file("out/notes/half"), "half\n");
    assert.deepEqual(leftovers(at), []);
  },
);

for (const signal of ["SIGTERM", "SIGHUP"] as const)
  test(
    `${signal} ends the run at once, prints how to stop its running attempt, and the next run continues with it`,
    only,
    async (t) => {
      const at = lab(t, repository);
      define(at);
      const first = at.start(args(at));
      await begun(at);
      const supervisor = supervisorOf(at);
      first.child.kill(signal);
      const ended = await first.ended;
      assert.equal(ended.code, 130);
      const left = ended.lines.find(({ event }) => event === "attempt-left")!;
      assert.match(left.stop, /^pnpm pipeline attempts stop attempt/);
      assert.match(commandOf(supervisor), /supervisor/);
      go(at);
      const said = await at.run();
      assert.equal(said.code, 0, said.stderr);
      assert.deepEqual(at.executions(), { attempt: 1, use: 1 });
      assert.deepEqual(leftovers(at), []);
    },
  );

test("status shows an attempt that continues without a run, and attempts stop ends it", only, async (t) => {
  const at = lab(t, repository);
  define(at);
  const first = at.start(args(at));
  await begun(at);
  const supervisor = supervisorOf(at);
  first.child.kill("SIGKILL");
  await first.ended;
  const status = await at.pipeline(["status", at.name, "--root", at.root]);
  assert.match(status.stdout, /attempts running without a run\n {2}attempt {2}for/);
  const stopped = await at.pipeline(["attempts", "stop", "attempt", "--root", at.root]);
  assert.equal(stopped.code, 0, stopped.stderr);
  assert.match(stopped.stdout, /^attempt: stopped: by `attempts stop`; what it had done is kept in \.mlrb/);
  assert.equal(lostOf(at).file("out/notes/half"), "half\n");
  assert.equal(commandOf(supervisor), "");
  assert.deepEqual(readdirSync(running(at)), []);
  const none = await at.pipeline(["attempts", "stop", "attempt", "--root", at.root]);
  assert.match(none.stderr, /no-such-attempt/);
});

test("attempts stop with several matching attempts lists them and stops none", only, async (t) => {
  const at = lab(t, repository);
  define(at);
  const other = lab(t, repository, { root: at.root });
  define(other);
  const runs = [at, other].map((one) => one.start(args(one)));
  await begun(at);
  await begun(other);
  const stopped = await at.pipeline(["attempts", "stop", "attempt", "--root", at.root]);
  assert.equal(stopped.code, 2, stopped.stdout);
  const names = readdirSync(running(at));
  for (const name of names) assert.ok(stopped.stderr.includes(name.slice(0, 12)), stopped.stderr);
  for (const one of [at, other]) {
    assert.ok(stopped.stderr.includes(one.name));
    go(one);
  }
  for (const { ended } of runs) assert.equal((await ended).code, 0);
});

test(
  "an attempt whose state folder a person removed ends by itself, because no run could find it",
  only,
  async (t) => {
    const at = lab(t, repository);
    define(at);
    const supervisor = await orphan(at);
    removeFolder(join(at.root, ".mlrb"));
    await until("the supervisor to end", () => commandOf(supervisor) === "");
  },
);

test(
  "an attempt that a person stops while a run waits for it fails in that run and is not retried",
  only,
  async (t) => {
    const at = lab(t, repository);
    define(at);
    const first = at.start(args(at));
    await begun(at);
    const stopped = await at.pipeline(["attempts", "stop", "attempt", "--json", "--root", at.root]);
    assert.equal(stopped.lines[0]!.became, "quarantined", stopped.stdout);
    const said = await first.ended;
    assert.equal(said.code, 1);
    assert.match(lineOf(said, "attempt").cause, /^operator: by `attempts stop`; what it had done is kept in/);
    assert.deepEqual(at.executions(), { attempt: 1 });
  },
);

test("a run that waits for another run's attempt continues it when that run dies", only, async (t) => {
  const at = lab(t, repository);
  define(at);
  const first = at.start(args(at));
  await begun(at);
  const second = at.start(plain(at));
  await until("the second run to wait", () => /wait/i.test(second.stderr()));
  first.child.kill("SIGKILL");
  await first.ended;
  await until("the second run to adopt it", () => second.stderr().includes("adopted attempt"));
  go(at);
  const said = await second.ended;
  assert.equal(said.code, 0, said.stderr);
  assert.deepEqual(at.executions(), { attempt: 1, use: 1 });
});
