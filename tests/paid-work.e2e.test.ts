// An attempt's files and spending are never lost and never paid for twice without a request: not if its container
// is stopped, not if its supervisor is killed at its very end, not if the disk is full.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { defineAttempts } from "./support/attempts/attempt-stages.ts";
import { defineLlmAttempt, keyEnv, provider, shell } from "./support/attempts/llm-attempts.ts";
import { recordsIn } from "./support/end-state.ts";
import { counted, filesBelow, type Lab, lab, lineOf, reasons } from "./support/lab.ts";
import { smallDisk } from "./support/machines/small-disk.ts";
import { attemptProcesses, supervisorsIn, until } from "./support/processes.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());
const only = process.platform === "linux" ? {} : { skip: "needs Linux: processes are found in /proc" };

const lostFolders = (at: Lab) => globSync(`${at.root}/.mlrb/attempts/lost/*/`);
const args = (at: Lab, ...more: string[]) => ["run", at.name, "--json", "--root", at.root, ...more];

/** The one quarantined attempt: its cause, and its files. */
function lostOf(at: Lab) {
  const [folder, ...others] = lostFolders(at);
  assert.deepEqual(others, []);
  const file = (path: string) => readFileSync(join(folder!, path), "utf8");
  return { folder: folder!, file, left: JSON.parse(file("cause.json")) };
}

test(
  "a stopped container (SIGTERM to every process) seals trajectory, cost, workspace and submission; a new attempt needs a confirmation",
  only,
  async (t) => {
    const at = lab(t, repository);
    const served = await provider(t, (_, index) =>
      index === 0
        ? { ...shell("echo draft > submission/model; echo notes > notes"), usage: { input: 300, output: 50 } }
        : shell("sleep 60"),
    );
    defineLlmAttempt(at, served, { params: { trusted: true } });
    const run = at.start(args(at, "--yes"), { env: keyEnv });
    await until("the second call", () => served.seen.length === 2 && attemptProcesses(at.root).length > 4);
    run.child.kill("SIGKILL");
    await run.ended;
    for (const pid of attemptProcesses(at.root))
      try {
        process.kill(pid, "SIGTERM");
      } catch {
        // ended with another one
      }
    await until("all of it to end", () => attemptProcesses(at.root).length === 0);
    const { left, file, folder } = lostOf(at);
    assert.equal(left.cause.kind, "terminated");
    const ledger = JSON.parse(file("out/ledger.json")) as Ledger;
    assert.equal(ledger.ended, "interrupted");
    assert.equal(ledger.usage!.calls, 2);
    const checked = await verifyTrajectory(join(folder, "out/trajectory.jsonl"), ledger.trajectory);
    assert.deepEqual([checked.kind, "complete" in checked && checked.complete], ["intact", true]);
    assert.equal(file("out/submission/model"), "draft\n");
    const [notes] = globSync(`${folder}/attempt-*/sandbox-*/**/notes`);
    assert.equal(readFileSync(notes!, "utf8"), "notes\n", "the workspace is kept");

    const refused = await at.pipeline(args(at), { env: keyEnv });
    assert.equal(refused.code, 2);
    assert.match(refused.stderr + refused.stdout, /over-cost/);
    const planned = await at.pipeline(["plan", at.name, "--json", "--root", at.root], { env: keyEnv });
    const [reason] = reasons(planned, "attempt[task=empty,agent=model,seed=1]");
    assert.equal(reason!.kind, "lost");
    assert.equal(served.seen.length, 2, "nothing was asked again");
    const list = await at.pipeline(["attempts", "list", "--json", "--root", at.root]);
    const sums = list.lines.at(-1)!;
    assert.deepEqual([sums.lost.attempts, sums.recorded.attempts], [1, 0]);
  },
);

test(
  "`retries` repeats an attempt whose stage was killed only if the attempt is free, never a paid one",
  only,
  async (t) => {
    const at = lab(t, repository);
    for (const [secrets, tries] of [
      [["THE_KEY"], 1],
      [[], 2],
    ] as const) {
      const name = `attempt-${tries}`;
      at.define({
        stages: {
          attempt: {
            durable: true,
            secrets: [...secrets],
            retries: 1,
            command: counted(
              at,
              name,
              `echo half > {outputs.text}; test $(grep -c ${name} '${at.outside}/executions') -gt 1 || kill -9 $PPID`,
            ),
            gives: { text: "file" },
          },
        },
      });
      const said = await at.pipeline(args(at, "--yes"), { env: { THE_KEY: "a key" } });
      assert.equal(at.executions()[name], tries, said.stderr + said.stdout);
    }
  },
);

test(
  "a confirmation from before an attempt was found lost does not start another one; the next run's does",
  only,
  async (t) => {
    const at = lab(t, repository);
    const begun = join(at.outside, "begun");
    at.define({
      stages: {
        attempt: {
          durable: true,
          secrets: ["THE_KEY"],
          command: counted(
            at,
            "attempt",
            `echo half > {outputs.text}; test -e '${begun}' || { touch '${begun}'; sleep 60; }`,
          ),
          gives: { text: "file" },
        },
      },
    });
    const env = { THE_KEY: "a key" };
    const first = at.start(args(at, "--yes"), { env });
    await until("the attempt to begin", () => existsSync(begun));
    first.child.kill("SIGKILL");
    await first.ended;
    for (const pid of supervisorsIn(at.root)) process.kill(pid, "SIGKILL");
    const second = await at.pipeline(args(at, "--yes"), { env });
    assert.equal(second.code, 1, second.stdout);
    assert.match(lineOf(second, "attempt").cause, /was lost after this run was confirmed/);
    assert.deepEqual(at.executions(), { attempt: 1 });
    const third = await at.pipeline(args(at, "--yes"), { env });
    assert.equal(third.code, 0, third.stdout + third.stderr);
    assert.equal(reasons(third, "attempt")[0]!.kind, "lost");
    assert.deepEqual(at.executions(), { attempt: 2 });
  },
);

test(
  "a paid attempt killed before it has written anything is quarantined at unknown cost, and not repeated without a request",
  only,
  async (t) => {
    const at = lab(t, repository);
    at.define({
      stages: {
        attempt: {
          durable: true,
          secrets: ["THE_KEY"],
          retries: 1,
          command: counted(at, "attempt", "kill -9 $PPID; sleep 1"),
          gives: { text: "file" },
        },
      },
    });
    const env = { THE_KEY: "a key" };
    const said = await at.pipeline(args(at, "--yes"), { env });
    assert.equal(said.code, 1, said.stdout);
    assert.deepEqual(at.executions(), { attempt: 1 });
    assert.equal(lostOf(at).left.cost.dollars, null);
    const again = await at.pipeline(args(at), { env });
    assert.equal(again.code, 2);
    const planned = await at.pipeline(["plan", at.name, "--json", "--root", at.root], { env });
    assert.equal(reasons(planned, "attempt")[0]!.kind, "lost");
    assert.deepEqual(at.executions(), { attempt: 1 });
  },
);

test(
  "a paid attempt whose supervisor is killed before anything was written is quarantined at unknown cost by a following run",
  only,
  async (t) => {
    const at = lab(t, repository);
    at.define({
      stages: {
        attempt: {
          durable: true,
          secrets: ["THE_KEY"],
          command: `touch '${at.outside}/begun'; sleep 60`,
          gives: { text: "file" },
        },
      },
    });
    const env = { THE_KEY: "the-key-of-it" };
    const run = at.start(args(at, "--yes"), { env });
    await until("the attempt to begin", () => existsSync(join(at.outside, "begun")));
    for (const pid of supervisorsIn(at.root)) process.kill(pid, "SIGKILL");
    const said = await run.ended;
    assert.equal(said.code, 1, said.stdout);
    assert.equal(lostOf(at).left.cost.dollars, null);
  },
);

test(
  "a stale attempt that was lost while it was repeated is marked as such where it would run again",
  only,
  async (t) => {
    const at = lab(t, repository);
    const define = (command: string) =>
      at.define({ stages: { attempt: { durable: true, command, gives: { text: "file" } } } });
    define("echo one > {outputs.text}");
    assert.equal((await at.run()).code, 0);
    define("echo half > {outputs.text}; kill -9 $PPID; sleep 1");
    assert.equal((await at.run("--rerun")).code, 1);
    const kinds = async (...more: string[]) =>
      reasons(await at.plan(...more), "attempt").map(({ kind }) => kind);
    assert.deepEqual(await kinds("--rerun"), ["stale", "lost"]);
    assert.deepEqual(await kinds(), ["stale"]);
    define("echo other > {outputs.text}");
    assert.deepEqual(await kinds("--rerun"), ["stale"], "another attempt than the one that was lost");
  },
);

/** An attempt that had ended when its supervisor was killed, as it is in `lost/`. */
async function lostAtItsEnd(at: Lab): Promise<string> {
  defineAttempts(at, { script: 'echo done > "$MLRB_SUBMISSION/model"', trusted: true });
  const ended = await at.run();
  assert.equal(ended.code, 0, ended.stdout + ended.stderr);
  const [record] = recordsIn(at.root);
  const from = join(at.root, ".mlrb/attempts/records", record!.digest);
  const { slot, axes, attemptKey, parts, given, harness, outputs, ran } = record!
    .record as unknown as AttemptRecord;
  const to = join(at.root, ".mlrb/attempts/lost/it-1");
  const gives = Object.entries(outputs).map(([name, { file, kind }]) => ({ name, file, kind }));
  spawnSync("mkdir", ["-p", to]);
  renameSync(from, join(to, "out"));
  rmSync(join(to, "out/record.json"));
  const card = {
    formatVersion: 1,
    run: ran.run,
    startedAt: ran.startedAt,
    slot,
    axes,
    key: attemptKey,
    parts,
    given,
  };
  const by = { host: "elsewhere", boot: "", pid: 1, started: "" };
  writeFileSync(
    join(to, "attempt.json"),
    JSON.stringify({ ...card, by, gives, harness, gpus: 0, secrets: [], executor: "local" }),
  );
  rmSync(join(at.root, ".mlrb/attempts/index.jsonl"), { force: true });
  return to;
}

test(
  "attempts adopt records sealed attempts, and leaves cut or unfinished ones with the reason",
  only,
  async (t) => {
    const at = lab(t, repository);
    const lost = await lostAtItsEnd(at);
    const trajectory = join(lost, "out/trajectory.jsonl");
    const whole = readFileSync(trajectory, "utf8");
    const adopt = () => at.pipeline(["attempts", "adopt", "it-1", "--root", at.root]);
    writeFileSync(trajectory, whole.slice(0, -20));
    const refused = await adopt();
    assert.equal(refused.code, 1, refused.stderr);
    assert.match(refused.stdout, /left {4}attempt.*its trajectory: line \d+ .*cut off/);
    assert.ok(existsSync(lost));
    writeFileSync(trajectory, whole);
    const kept = await adopt();
    assert.equal(kept.code, 0, kept.stdout + kept.stderr);
    assert.match(kept.stdout, /kept {4}attempt\[.*as [0-9a-f]{12}/);
    assert.equal(recordsIn(at.root).length, 1);
  },
);

test(
  "attempts adopt leaves out the log of an attempt with secrets if it was not redacted",
  only,
  async (t) => {
    const at = lab(t, repository);
    const lost = await lostAtItsEnd(at);
    const card = join(lost, "attempt.json");
    writeFileSync(card, JSON.stringify({ ...JSON.parse(readFileSync(card, "utf8")), secrets: ["SOME_KEY"] }));
    writeFileSync(join(lost, "log"), "the key is sk-not-redacted\n");
    const kept = await at.pipeline(["attempts", "adopt", "it-1", "--root", at.root]);
    assert.equal(kept.code, 0, kept.stdout + kept.stderr);
    const [record] = recordsIn(at.root);
    const files = filesBelow(join(at.root, ".mlrb"));
    for (const [file, text] of Object.entries(files)) assert.ok(!text.includes("sk-not-redacted"), file);
    const log = join(at.root, ".mlrb/attempts/records", record!.digest, "log");
    assert.match(readFileSync(log, "utf8"), /^mlrb: the log of this attempt is left out: .* SOME_KEY\n$/);
  },
);

test(
  "if the disk is full when an attempt ends, its end is stored, a message names the place, and the next run records it",
  only,
  async (t) => {
    const at = smallDisk(t, repository);
    if (!at) return;
    const fill = join(at.root, "fill");
    at.define({
      stages: {
        attempt: {
          durable: true,
          command: counted(
            at,
            "attempt",
            `echo done > {outputs.text}; dd if=/dev/zero of='${fill}' bs=4096 2>/dev/null; true`,
          ),
          gives: { text: "file" },
        },
      },
    });
    const said = await at.run();
    assert.equal(said.code, 1, said.stdout);
    const { cause } = lineOf(said, "attempt");
    assert.match(cause, /no space left on the disk; free some.*done and waits in \.mlrb\/attempts\/running/);
    assert.doesNotMatch(cause, /memory/);
    rmSync(fill);
    const next = await at.run();
    assert.equal(next.code, 0, next.stdout + next.stderr);
    assert.deepEqual(at.executions(), { attempt: 1 });
    assert.equal(recordsIn(at.root).length, 1);
  },
);
