// Runs of several hosts on one state folder. Another host is a killed run whose card got another host's name, or a
// separate process namespace, as in a container. The process table here cannot tell whether either lives, so only
// the heartbeat decides.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { recordsIn } from "./support/end-state.ts";
import { counted, type Lab, lab, leftovers, lineOf, outcomes, results, summary } from "./support/lab.ts";
import { isRunning, pidsIn, until } from "./support/processes.ts";
import type { ProgramOutput, Started } from "./support/run-program.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

const quick = { MLRB_LEASE_SILENCE: "700ms" };

type Scene = {
  at: Lab;
  /** Lets every waiting stage end. */
  go: () => void;
  pids: string;
  start: (args?: string[], env?: Record<string, string>) => Started;
  run: (args?: string[], env?: Record<string, string>) => Promise<ProgramOutput>;
};

/** An attempt and a plain stage, which wait for a signal; a stage that needs each, an unrelated one, and a report. */
function scene(t: TestContext): Scene {
  const at = lab(t, repository);
  const file = join(at.outside, "go");
  const pids = join(at.outside, "pids");
  const go = () => writeFileSync(file, "");
  const waits = (name: string) =>
    counted(
      at,
      name,
      // processes that outlive their killed runner end with the test
      `echo $$ >> '${pids}'; while [ -d '${at.outside}' ] && [ ! -e '${file}' ]; do sleep 0.05; done; echo ${name} > {outputs.text}`,
    );
  const copy = { command: "cp {inputs.text} {outputs.text}", gives: { text: "file" } };
  at.define({
    stages: {
      attempt: { durable: true, command: waits("attempt"), gives: { text: "file" } },
      plain: { command: waits("plain"), gives: { text: "file" } },
      judged: { needs: ["attempt.text"], ...copy },
      copied: { needs: ["plain.text"], ...copy },
      apart: { command: counted(at, "apart") },
      report: {
        collect: ["judged.text", "copied.text"],
        command: 'cat "$(dirname {inputs.manifest})"/members/* > {outputs.all}',
        gives: { all: "file" },
      },
    },
  });
  const start: Scene["start"] = (args = [], env = quick) =>
    at.start(["run", at.name, "--json", "--root", at.root, "--jobs", "4", ...args], { env });
  return { at, go, pids, start, run: (args, env) => start(args, env).ended };
}

/**
 * Kills a run while both of its long stages run, and gives its cards to another host, which went down during the
 * attempt, or after the attempt had ended. Returns the run's card.
 */
async function leftByAnotherHost(
  { at, go, pids, start }: Scene,
  { attempt = "lost" }: { attempt?: "lost" | "ended" } = {},
): Promise<string> {
  const killed = start();
  await until("both stages and the one apart", () => {
    const ended = killed.stdout().includes('"apart"');
    return ended && pidsIn(pids).length === 2;
  });
  killed.child.kill("SIGKILL");
  await killed.ended;
  const [folder] = attempts(at);
  const supervisor = join(folder!, "supervisor.json");
  const { pid } = JSON.parse(readFileSync(supervisor, "utf8"));
  if (attempt === "lost") process.kill(pid, "SIGKILL");
  go();
  await until("the stages to end", () => !pidsIn(pids).some(isRunning) && !isRunning(pid));
  elsewhere(supervisor, (owner) => owner);
  elsewhere(join(folder!, "attempt.json"), ({ by }) => by);
  const [run] = readdirSync(join(at.root, ".mlrb/work"));
  const card = join(at.root, ".mlrb/work", run!, "owner.json");
  elsewhere(card, (owner) => owner);
  return card;
}

type Owner = { by: Owner; [name: string]: unknown };

/** Makes a file name another host as its owner. */
function elsewhere(file: string, ownerIn: (content: Owner) => Owner): void {
  const content = JSON.parse(readFileSync(file, "utf8")) as Owner;
  Object.assign(ownerIn(content), { host: "gpu2", boot: "of gpu2", pid: 17 });
  writeFileSync(file, JSON.stringify(content));
}

/** Folders of attempts that run, or whose end no run has seen. */
function attempts(at: Lab): string[] {
  const running = join(at.root, ".mlrb/attempts/running");
  return readdirSync(running).map((name) => join(running, name));
}

const leases = (at: Lab) => readdirSync(join(at.root, ".mlrb/leases"));

test("a silent host's plain stage is repeated after a while; its attempt is left alone with instructions, and nothing hangs", async (t) => {
  const its = scene(t);
  const { at, run } = its;
  await leftByAnotherHost(its);
  assert.equal(leases(at).length, 2);
  const said = await run();
  assert.equal(said.code, 1, said.stdout + said.stderr);
  assert.deepEqual(outcomes(said), {
    attempt: "failed",
    plain: "succeeded",
    judged: "skipped",
    copied: "succeeded",
    apart: "reused",
    report: "succeeded",
  });
  assert.match(
    lineOf(said, "attempt").cause,
    /process 17 on gpu2 since \d{4}-.*Z by its clock holds it and has been silent for .*--take-over/,
  );
  assert.deepEqual(at.executions(), { apart: 1, attempt: 1, plain: 2 });
  assert.equal(results(at)[`${at.name}/default/all`], "plain\n");
  assert.equal(leases(at).length, 1, "the attempt's stays");
  assert.equal(leftovers(at).length, 1, "and so does its work folder: that host may only sleep");
  assert.deepEqual(recordsIn(at.root), []);
});

test("messages name who holds what, and from whom it was taken over", async (t) => {
  const its = scene(t);
  await leftByAnotherHost(its);
  const { at } = its;
  const said = await at.pipeline(["run", at.name, "--root", at.root], { env: quick });
  assert.match(said.stderr, /waits +plain +\(process 17 on gpu2 since .* by its clock does it\)/);
  assert.match(said.stderr, /took over plain +from process 17 on gpu2 .*, silent for /);
  assert.match(said.stderr, /FAILED +attempt +.*process 17 on gpu2 .*--take-over/);
});

test("--take-over repeats a silent host's attempt once, and cleans up what that host left", async (t) => {
  const its = scene(t);
  const { at, run } = its;
  await leftByAnotherHost(its);
  const said = await run(["--take-over"]);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.equal(said.lines.find(({ event }) => event === "take-over")?.host, "gpu2");
  assert.deepEqual(at.executions(), { apart: 1, attempt: 2, plain: 2 });
  assert.equal(recordsIn(at.root).length, 1);
  assert.deepEqual(leases(at), []);
  assert.deepEqual(leftovers(at), []);
  assert.deepEqual(attempts(at), []);
  assert.equal(results(at)[`${at.name}/default/all`], "plain\nattempt\n");
  assert.equal(summary(await run()).outcomes.reused, 6);
});

test("an attempt that ended on a host that then went down is recorded with --take-over, and not repeated", async (t) => {
  const its = scene(t);
  const { at, run } = its;
  await leftByAnotherHost(its, { attempt: "ended" });
  const said = await run(["--take-over"]);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.deepEqual(at.executions(), { apart: 1, attempt: 1, plain: 2 });
  assert.equal(recordsIn(at.root).length, 1);
  assert.deepEqual(attempts(at), []);
});

test("a host with a heartbeat keeps its attempt, whatever the options; when it ends, others continue", async (t) => {
  const its = scene(t);
  const { at, start } = its;
  const card = await leftByAnotherHost(its);
  let beats = 0;
  const beating = setInterval(() => existsSync(card) && utimesSync(card, ++beats, beats), 50);
  beating.unref();
  const waiting = start(["--take-over"]);
  await until("all but what waits to end", () => waiting.stdout().includes('"apart"'));
  const since = beats;
  await until("twice the silence to pass", () => beats > since + 28);
  assert.deepEqual(at.executions(), { apart: 1, attempt: 1, plain: 1 });
  // as that host's run does when it ends without a result
  for (const name of leases(at)) spawnSync("rm", [join(at.root, ".mlrb/leases", name)]);
  const said = await waiting.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.deepEqual(at.executions(), { apart: 1, attempt: 2, plain: 2 });
  assert.ok(existsSync(card), "its work folder is its own");
  clearInterval(beating);
});

const inNamespace = [
  ...(process.getuid?.() === 0 ? ["unshare"] : ["unshare", "--user", "--map-root-user"]),
  ...["--pid", "--fork", "--kill-child", "--mount-proc"],
];
const noNamespace =
  process.platform !== "linux"
    ? "there are process namespaces on Linux only"
    : spawnSync(inNamespace[0]!, [...inNamespace.slice(1), "true"]).status !== 0 &&
      "this user may not make a process namespace";

test("a run in a container of this machine is waited for while it lives, and is silent once it is killed", {
  skip: noNamespace,
}, async (t) => {
  const { at, go, pids, run, start } = scene(t);
  const silence = { MLRB_LEASE_SILENCE: "5s" }; // more than two of its beats
  const inside = at.start(["run", at.name, "--json", "--root", at.root, "--jobs", "4"], {
    through: inNamespace,
  });
  await until("both stages", () => pidsIn(pids).length === 2);
  const outside = start([], silence);
  const [work] = readdirSync(join(at.root, ".mlrb/work"));
  const card = join(at.root, ".mlrb/work", work!, "owner.json");
  const beats = new Set<number>();
  await until("three heartbeats, which take longer than the silence", () => {
    beats.add(statSync(card).mtimeMs);
    return beats.size > 3;
  });
  assert.deepEqual(at.executions(), { apart: 1, attempt: 1, plain: 1 });
  inside.child.kill("SIGKILL"); // and with it its whole namespace
  await inside.ended;
  go();
  const said = await outside.ended;
  assert.equal(said.code, 1, said.stdout + said.stderr);
  assert.equal(outcomes(said).attempt, "failed");
  assert.equal(outcomes(said).plain, "succeeded");
  assert.deepEqual(recordsIn(at.root), []);
  const taken = await run(["--take-over"], silence);
  assert.equal(taken.code, 0, taken.stdout + taken.stderr);
  assert.deepEqual(at.executions(), { apart: 1, attempt: 2, plain: 2 });
  assert.deepEqual(leftovers(at), []);
});

/** Runs the command, sends it SIGTERM once `file` exists, and keeps its namespace and what still runs there. */
const leavingOnceThereIs = (file: string) => [
  ...[...inNamespace, "sh", "-c"],
  `"$@" & run=$!; while [ ! -e '${file}' ]; do sleep 0.1; done; kill -TERM $run; wait $run; sleep 300`,
  "sh",
];

test("an attempt that goes on in a container after its run was left is waited for, and paid once", {
  skip: noNamespace,
}, async (t) => {
  const { at, go, pids, start } = scene(t);
  const leave = join(at.outside, "leave");
  const inside = at.start(["run", at.name, "--json", "--root", at.root, "--only", "attempt"], {
    through: leavingOnceThereIs(leave),
  });
  await until("the attempt", () => existsSync(pids) && pidsIn(pids).length === 1);
  writeFileSync(leave, "");
  await until("its run to end", () => inside.stdout().includes('"attempt-left"'));
  await until("its lease to be free", () => leases(at).length === 0);
  const [folder] = attempts(at);
  const outside = start(["--only", "attempt"], { MLRB_LEASE_SILENCE: "5s" });
  const beats = new Set<number>();
  await until("three heartbeats, which take longer than the silence", () => {
    beats.add(statSync(join(folder!, "supervisor.json")).mtimeMs);
    return beats.size > 3;
  });
  assert.deepEqual([at.executions(), attempts(at)], [{ attempt: 1 }, [folder]]);
  go();
  const said = await outside.ended;
  inside.child.kill("SIGKILL");
  await inside.ended;
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.deepEqual([at.executions(), recordsIn(at.root).length, attempts(at)], [{ attempt: 1 }, 1, []]);
});
