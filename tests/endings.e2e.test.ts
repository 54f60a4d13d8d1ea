// A person gets true information about attempts that are ended from outside: who ended them, and where they are.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { v8Flags } from "@mlrb/core/ports/node-flags";
import { counted, type Lab, lab, lineOf } from "./support/lab.ts";
import { smallDisk } from "./support/machines/small-disk.ts";
import { attemptProcesses, supervisorsIn, until } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const only = process.platform === "linux" ? {} : { skip: "needs Linux: processes are found in /proc" };

/** An attempt that has made a file and continues; one that `ignores` TERM must be killed. */
function define(at: Lab, { ignores = false } = {}): void {
  const work = `echo half > {outputs.text}; touch '${at.outside}/begun'; while true; do sleep 0.1; done`;
  at.define({
    stages: {
      attempt: {
        command: counted(at, "attempt", ignores ? `trap '' TERM; ${work}` : work),
        durable: true,
        gives: { text: "file" },
      },
    },
  });
}

const begun = (at: Lab) => until("the attempt to begin", () => existsSync(join(at.outside, "begun")));

function lostOf(at: Lab) {
  const lost = join(at.root, ".mlrb/attempts/lost");
  const [name, ...others] = readdirSync(lost);
  assert.deepEqual(others, []);
  return { name: name!, cause: JSON.parse(readFileSync(join(lost, name!, "cause.json"), "utf8")).cause };
}

for (const json of [false, true])
  test(
    `after SIGTERM to a run and its supervisors at once, the run prints where each attempt is and never that one continues${json ? ", as JSON too" : ""}`,
    only,
    async (t) => {
      const at = lab(t, repository);
      define(at);
      const run = at.start(["run", at.name, "--root", at.root, ...(json ? ["--json"] : [])]);
      await begun(at);
      // without them it may wait for its own compilers for ever
      for (const pid of supervisorsIn(at.root))
        assert.ok(v8Flags.every((flag) => readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(flag)));
      for (const pid of [...supervisorsIn(at.root), run.child.pid!]) process.kill(pid, "SIGTERM");
      const said = await run.ended;
      assert.equal(said.code, 130, said.stdout + said.stderr);
      const { name, cause } = lostOf(at);
      assert.equal(cause.kind, "terminated", JSON.stringify(cause));
      assert.doesNotMatch(said.stderr, /running attempt|to stop it/);
      assert.ok(
        said.stderr.includes(
          `ended   attempt  (terminated: its supervisor was sent SIGTERM; what it had done is kept in .mlrb/attempts/lost/${name})`,
        ),
        said.stderr,
      );
      if (!json) return;
      assert.equal(said.lines.filter(({ event }) => event === "attempt-left").length, 0);
      const ended = said.lines.find(({ event }) => event === "attempt-ended")!;
      assert.deepEqual([ended.became, ended.folder], ["quarantined", `.mlrb/attempts/lost/${name}`]);
    },
  );

test(
  "after SIGTERM and a kill of a supervisor before its attempt ended, the next run knows the cause",
  only,
  async (t) => {
    const at = lab(t, repository);
    define(at, { ignores: true });
    const run = at.start(["run", at.name, "--root", at.root]);
    await begun(at);
    run.child.kill("SIGKILL");
    await run.ended;
    const [supervisor] = supervisorsIn(at.root);
    process.kill(supervisor!, "SIGTERM");
    const running = join(at.root, ".mlrb/attempts/running");
    const ending = join(running, readdirSync(running)[0]!, "ending.json");
    await until("the note that it was asked to end", () => existsSync(ending));
    for (const pid of attemptProcesses(at.root))
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // ended with another one
      }
    const list = await at.pipeline(["attempts", "list", "--root", at.root]);
    assert.match(list.stdout, /terminated/);

    const next = await at.plan();
    assert.match(next.stdout, /"kind":"lost"/);
    const again = at.start(["run", at.name, "--root", at.root]);
    const cause = /terminated: its supervisor was sent SIGTERM, and killed before it could write its end/;
    await until("the cause of the lost attempt", () => cause.test(again.stderr()));
    assert.ok(existsSync(join(at.root, ".mlrb/attempts/lost")));
    again.child.kill("SIGTERM");
    for (const pid of supervisorsIn(at.root)) process.kill(pid, "SIGTERM");
    await again.ended;
  },
);

test(
  "if a person stops an attempt on a full disk, its cause and the waiting run name the person's stop",
  only,
  async (t) => {
    const at = smallDisk(t, repository);
    if (!at) return;
    define(at);
    const run = at.start(["run", at.name, "--root", at.root, "--json"]);
    await begun(at);
    const fill = join(at.root, "fill");
    for (const size of [65536, 512, 1])
      spawnSync("dd", ["if=/dev/zero", `of=${fill}`, `bs=${size}`, "oflag=append", "conv=notrunc"]);
    const stopped = await at.pipeline(["attempts", "stop", "attempt", "--root", at.root]);
    assert.equal(stopped.code, 0, stopped.stderr);
    assert.match(stopped.stdout, /^attempt: stopped: by `attempts stop`; what it had done is kept in/);
    rmSync(fill);
    const said = await run.ended;
    assert.equal(said.code, 1);
    assert.match(lineOf(said, "attempt").cause, /^operator: by `attempts stop`/);
    assert.deepEqual(lostOf(at).cause, { kind: "stopped", detail: "by `attempts stop`" });
  },
);

for (const [other, env] of [
  ["another value", { THE_KEY: "second-value-of-the-key" }],
  ["no value", {}],
] as const)
  test(
    `when a run continues an attempt with ${other} of its secret, no stored file contains the secret's first value`,
    only,
    async (t) => {
      const at = lab(t, repository);
      const go = join(at.outside, "go");
      at.define({
        stages: {
          attempt: {
            secrets: ["THE_KEY"],
            command: `echo "begun with $THE_KEY"; touch '${at.outside}/begun'; while [ ! -e '${go}' ]; do sleep 0.1; done; echo "ends with $THE_KEY"; echo made > {outputs.text}`,
            durable: true,
            gives: { text: "file" },
          },
        },
      });
      const first = at.start(["run", at.name, "--root", at.root, "--yes"], {
        env: { THE_KEY: "first-value-of-the-key" },
      });
      await begun(at);
      first.child.kill("SIGKILL");
      await first.ended;
      const second = at.start(["run", at.name, "--root", at.root, "--yes"], { env });
      await until("the second run to go on with it", () => second.stderr().includes("adopted attempt"));
      writeFileSync(go, "");
      const said = await second.ended;
      const kept = spawnSync("grep", ["-rl", "first-value-of-the-key", at.root], { encoding: "utf8" });
      assert.equal(kept.stdout, "", said.stdout + said.stderr);
      const log = await at.pipeline(["log", "attempt", "--root", at.root]);
      assert.match(log.stdout, /not shown: it may hold a secret/);
    },
  );
