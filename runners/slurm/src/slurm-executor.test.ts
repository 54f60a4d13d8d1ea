// What the executor makes of Slurm's answers, with stubs of its programs: lost answers, outages, refusals. The
// tests with a real Slurm are thorough.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecutionRequest } from "@mlrb/core/ports/executor";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { slurmOutputs } from "@mlrb/formats/stage/slurm-job";
import { fileView } from "@mlrb/kit/files/file-view";
import { isRunning, until } from "../../../tests/support/processes.ts";
import { JobFolder } from "./job-folder.ts";
import type { JobTimes } from "./job-times.ts";
import { SlurmExecutor } from "./slurm-executor.ts";

const program = join(import.meta.dirname, "../../cli/src/cluster/slurm-job.ts");
const away = "echo 'error: Unable to contact slurm controller (connect failure)' >&2; exit 1";
const begins = 'SLURM_JOB_ID=7 setsid sh "$at/script.$calls" > /dev/null 2>&1 &';

/** An executor whose Slurm consists of these shell lines; the script of call N of sbatch is in `script.N`. */
function lab(
  t: TestContext,
  lines: { sbatch: string; squeue: string; scancel?: string },
  times: Partial<JobTimes> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-slurm-"));
  // a cancellation that no result waits for may still write there
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));
  const counted = (name: string) =>
    `#!/bin/sh\nat='${folder}'\necho >> "$at/${name}.calls"\ncalls=$(grep -c '' "$at/${name}.calls")\n`;
  for (const [name, line] of Object.entries({
    // two calls at once must not have one number
    sbatch: `calls=1; while ! mkdir "$at/sbatch-$calls" 2> /dev/null; do calls=$((calls + 1)); done
cat > "$at/script.$calls"; echo "$* " >> "$at/sbatch.args"\n${lines.sbatch}`,
    squeue: lines.squeue,
    sinfo: "true",
    scancel: `echo "$*" >> "$at/scancel.args"\n${lines.scancel ?? ""}`,
    srun: 'until test "$1" = --kill-on-bad-exit=0; do shift; done; shift; exec "$@"',
    sacct: "echo 'Slurm accounting storage is disabled' >&2; exit 1",
  })) {
    writeFileSync(join(folder, name), `${counted(name)}${line}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const work = join(folder, "work");
  mkdirSync(join(work, "run-1"), { recursive: true });
  const executor = new SlurmExecutor({
    ...{ work, run: "run-1", program, isLive: () => false, take: () => true },
    env: { PATH: `${folder}${delimiter}${process.env.PATH}` },
    times: { intervalMs: 50, lateMs: 100, patienceMs: 200, ...times },
  });
  let requests = 0;
  return {
    folder,
    executor,
    calls: (name: string) =>
      existsSync(join(folder, `${name}.calls`))
        ? readFileSync(join(folder, `${name}.calls`), "utf8").length
        : 0,
    request(command: string): ExecutionRequest {
      const slot = join(work, `slot-${++requests}`);
      for (const part of ["in", "out", "tmp"]) mkdirSync(join(slot, part), { recursive: true });
      return {
        ...{ id: "stage", key: `key-${requests}`, token: "t:", run: { kind: "command", command } },
        ...{ root: folder, work: slot, log: join(slot, "log"), inputs: {}, outputs: {}, limits: {} },
        ...{ env: { PATH: process.env.PATH! }, reads: [], writes: [], cpus: 1, gpus: [] },
      };
    },
  };
}

test("a submission whose answer was lost is not repeated once its job has begun", async (t) => {
  const at = lab(t, { sbatch: `${begins}\nsleep 1; ${away}`, squeue: away }, { patienceMs: 60_000 });
  const request = at.request("echo ran >> ran");
  assert.equal((await at.executor.start(request).ended).kind, "succeeded", readFileSync(request.log, "utf8"));
  assert.equal(readFileSync(join(at.folder, "ran"), "utf8"), "ran\n");
  assert.equal(at.calls("sbatch"), 1);
});

test("a job that could not be submitted in time is given up, and never begins", async (t) => {
  const at = lab(t, { sbatch: away, squeue: away });
  const result = await at.executor.start(at.request("echo ran >> ran")).ended;
  assert.ok(result.kind === "failed");
  assert.equal(result.cause, "machine");
  assert.match(result.detail, /could not be submitted: Unable to contact slurm controller/);
  // Slurm may have it all the same
  spawnSync("sh", [join(at.folder, "script.1")]);
  assert.ok(!existsSync(join(at.folder, "ran")));
});

test("an outage at the submission is waited for", async (t) => {
  const at = lab(
    t,
    { sbatch: `if [ "$calls" -lt 3 ]; then ${away}; fi\n${begins}\necho "7;cluster"`, squeue: "true" },
    { patienceMs: 60_000, lateMs: 60_000 },
  );
  const result = await at.executor.start(at.request("true")).ended;
  assert.equal(result.kind, "succeeded");
  assert.equal(at.calls("sbatch"), 3);
});

test("a job that Slurm refuses is for a person to mend, in Slurm's words", async (t) => {
  const sbatch =
    "echo 'sbatch: error: Batch job submission failed: Invalid partition name specified' >&2; exit 1";
  const at = lab(t, { sbatch, squeue: "true" });
  assert.deepEqual(await at.executor.start(at.request("true")).ended, {
    kind: "failed",
    cause: "operator",
    detail: "Slurm refuses its job: Invalid partition name specified (it asks for --cpus-per-task=1)",
  });
});

/** Ends a job as its node would whose files reach this host late: what it wrote is not here yet. */
function endedElsewhere(folder: string): void {
  mkdirSync(join(folder, "elsewhere/out"), { recursive: true });
  writeFileSync(join(folder, "elsewhere/out/a"), "kept\n");
  const job = join(folder, "work/run-1/jobs/1");
  const place = { formatVersion: 1, id: "7", host: "other", node: "n9" };
  writeFileSync(join(job, "claim.json"), JSON.stringify({ kind: "begun", ...place }));
  const wrote = fileView(join(folder, "elsewhere"), slurmOutputs);
  writeFileSync(
    join(job, "done.json"),
    JSON.stringify({ ...place, job: "1", wrote, result: { kind: "succeeded", where: {} } }),
  );
}

test("outputs that reach this host after the job's last file are waited for", async (t) => {
  const at = lab(t, { sbatch: "echo 7", squeue: away }, { lateMs: 60_000 });
  const request = at.request("true");
  const { ended } = at.executor.start(request);
  await until("the submission", () => at.calls("sbatch") > 0);
  endedElsewhere(at.folder);
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await sleep(500);
  assert.ok(!isOver, "it took outputs that it could not see");
  writeFileSync(join(request.work, "out/a"), "ke"); // half of its bytes
  await sleep(300);
  assert.ok(!isOver, "it took half an output");
  writeFileSync(join(request.work, "out/a"), "kept\n");
  assert.equal((await ended).kind, "succeeded");
});

test("outputs that never reach this host are a failure of the machine", async (t) => {
  const at = lab(t, { sbatch: "echo 7", squeue: away });
  const { ended } = at.executor.start(at.request("true"));
  await until("the submission", () => at.calls("sbatch") > 0);
  endedElsewhere(at.folder);
  assert.deepEqual(await ended, {
    kind: "failed",
    cause: "machine",
    detail:
      "its node wrote 1 file of 5 B, and this host sees 0 files of 0 B: does the node share this disk (.mlrb/work)?",
  });
});

test("a job that ended before it began is given up at once, and never begins", async (t) => {
  const squeue = "echo '7|FAILED|RaisedSignal:53(Real-time_signal_19)|n1|main|run-1|1 stage'";
  const at = lab(t, { sbatch: "echo 7", squeue }, { lateMs: 60_000 });
  const result = await at.executor.start(at.request("echo ran >> ran")).ended;
  assert.ok(result.kind === "failed");
  assert.deepEqual(
    [result.cause, result.detail],
    ["machine", "its job ended without a result or a line of output: does the node share this disk (.mlrb)?"],
  );
  spawnSync("sh", [join(at.folder, "script.1")]);
  assert.ok(!existsSync(join(at.folder, "ran")));
});

test("a job of another run with the same id is not taken for this one", async (t) => {
  const at = lab(t, { sbatch: "echo 7", squeue: "echo '7|RUNNING|None|n1|main|run-0|1 stage'" });
  const result = await at.executor.start(at.request("true")).ended;
  assert.ok(result.kind === "failed");
  assert.match(result.detail, /does not know its job any more/);
});

test("a run neither cancels nor adopts a job that another living run has adopted", async (t) => {
  const squeue = "echo '7|RUNNING|None|n1|main|run-1|1 stage'";
  const at = lab(t, { sbatch: "echo 7", squeue });
  const request = at.request("true");
  const { ended } = at.executor.start(request);
  await beganElsewhere(at);
  const env = { PATH: `${at.folder}${delimiter}${process.env.PATH}` };
  const own = { work: join(at.folder, "work"), run: "run-3", program, isLive: () => false, env };
  const asked: string[] = [];
  const third = new SlurmExecutor({
    ...own,
    take(...what) {
      asked.push(what.join(" "));
      return false;
    },
  });
  assert.equal(await third.adopt(request.key), undefined);
  assert.equal(await new SlurmExecutor({ ...own, take: () => false }).clearLeft(), true);
  assert.equal(at.calls("scancel"), 0);
  assert.deepEqual(asked, ["run-1 1"]);
  endedElsewhere(at.folder);
  await ended;
});

test("a later run adopts a job that lives and that Slurm does not list, or else ends it", async (t) => {
  const at = lab(t, { sbatch: `${begins}\necho 7`, squeue: "true" }, { lateMs: 60_000 });
  const env = { PATH: `${at.folder}${delimiter}${process.env.PATH}` };
  const own = { work: join(at.folder, "work"), program, isLive: () => false, take: () => true, env };
  const [needed, unneeded] = ["needed", "unneeded"].map((name) => at.request(`echo >> ${name}; sleep 2`));
  const long = { ...unneeded!, run: { kind: "command", command: "echo >> unneeded; sleep 60" } } as const;
  const started = [needed!, long].map((request) => at.executor.start(request));
  await until("both", () => ["needed", "unneeded"].every((name) => existsSync(join(at.folder, name))));
  const later = new SlurmExecutor({ ...own, run: "run-2", times: { intervalMs: 50, lateMs: 100 } });
  const adopted = await later.adopt(needed!.key);
  assert.equal((await adopted?.running.ended)?.kind, "succeeded");
  assert.equal(await later.clearLeft(), true);
  const done = JSON.parse(readFileSync(join(at.folder, "work/run-1/jobs/2/done.json"), "utf8"));
  assert.equal(done.result.kind, "cancelled");
  for (const one of started) one.kill();
  await Promise.all(started.map(({ ended }) => ended));
});

test("a job that a later run does not adopt, since Slurm does not list it, never begins", async (t) => {
  const at = lab(t, { sbatch: "echo 7", squeue: "true" }, { lateMs: 2_000 });
  const request = at.request("echo ran >> ran");
  const { ended } = at.executor.start(request);
  await until("the submission", () => at.calls("sbatch") > 0);
  const env = { PATH: `${at.folder}${delimiter}${process.env.PATH}` };
  const own = { work: join(at.folder, "work"), program, isLive: () => false, take: () => true, env };
  assert.equal(await new SlurmExecutor({ ...own, run: "run-2" }).adopt(request.key), undefined);
  spawnSync("sh", [join(at.folder, "script.1")]);
  assert.ok(!existsSync(join(at.folder, "ran")));
  await ended;
});

/** A job that began on a node of which this host sees nothing but its folder. */
async function beganElsewhere({ folder, calls }: ReturnType<typeof lab>, id = "7"): Promise<string> {
  await until("the submission", () => calls("sbatch") > 0);
  const job = join(folder, "work/run-1/jobs/1");
  const claim = { kind: "begun", formatVersion: 1, id, host: "other", node: "n9" };
  writeFileSync(join(job, "claim.json"), JSON.stringify(claim));
  return job;
}

const orders = (folder: string) => readFileSync(join(folder, "scancel.args"), "utf8").trim().split("\n");

test("a job that runs and that Slurm does not list is waited for, not run a second time", async (t) => {
  const squeue = `[ -e "$at/work/run-1/jobs/1/claim.json" ] || echo '7|RUNNING|None|n1|main|run-1|1 stage'`;
  const at = lab(t, { sbatch: `${begins}\necho 7`, squeue }, { silentMs: 10_000 });
  const request = at.request("sleep 3; echo ran >> ran");
  const result = await at.executor.start(request).ended;
  assert.equal(result.kind, "succeeded", JSON.stringify(result));
  assert.match(readFileSync(request.log, "utf8"), /does not know its job any more, but the job lives/);
  assert.equal(at.calls("scancel"), 0);
});

test("a job that Slurm does not know and that gives no sign of life is ended before it is tried again", async (t) => {
  const at = lab(t, { sbatch: "echo 7", squeue: "true" }, { silentMs: 500 });
  const { ended } = at.executor.start(at.request("true"));
  const job = await beganElsewhere(at);
  assert.equal(causeOf(await ended), "machine");
  assert.deepEqual(orders(at.folder), ["7"]);
  assert.equal(JSON.parse(readFileSync(join(job, "end.json"), "utf8")).signal, "USR2");
});

test("a job that waits for a node and that Slurm does not list is cancelled, and never begins", async (t) => {
  const at = lab(t, { sbatch: "echo 7", squeue: "true" });
  assert.equal(causeOf(await at.executor.start(at.request("echo ran >> ran")).ended), "machine");
  assert.deepEqual(orders(at.folder), ["7"]);
  spawnSync("sh", [join(at.folder, "script.1")]);
  assert.ok(!existsSync(join(at.folder, "ran")));
});

test("of two submissions for one job, the one that has begun is watched, and the other is cancelled", async (t) => {
  const late = '(sleep 0.5; SLURM_JOB_ID=7 setsid sh "$at/script.1") > /dev/null 2>&1 &';
  const sbatch = `if [ "$calls" = 1 ]; then ${late} ${away}; fi; echo 8`;
  const squeue = `[ "$(grep -c '' "$at/sbatch.calls")" -lt 2 ] && exit 0
if [ -e "$at/work/run-1/jobs/1/claim.json" ]; then now=COMPLETED; else now=PENDING; fi
echo "7|RUNNING|None|n1|main|run-1|1 stage"; echo "8|$now|None||main|run-1|1 stage"`;
  const at = lab(t, { sbatch, squeue }, { patienceMs: 60_000 });
  const result = await at.executor.start(at.request("sleep 2; echo ran >> ran")).ended;
  assert.ok(result.kind === "succeeded", JSON.stringify(result));
  assert.equal(result.where?.job, "7");
  assert.deepEqual(orders(at.folder), ["8"]);
});

test("a job is asked to end through its folder while the controller is away", async (t) => {
  const at = lab(t, { sbatch: `${begins}\necho 7`, squeue: away, scancel: away }, { graceMs: 60_000 });
  const request = at.request("trap 'echo ending; exit 0' TERM; echo begun; while :; do sleep 0.1; done");
  const one = at.executor.start(request);
  await until(
    "its beginning",
    () => existsSync(request.log) && /begun/.test(readFileSync(request.log, "utf8")),
  );
  one.askToEnd();
  assert.deepEqual(await one.ended, { kind: "cancelled" });
  assert.match(readFileSync(request.log, "utf8"), /ending/);
});

test("a job that neither Slurm nor its folder reaches is left to a person, who reads its id", async (t) => {
  const at = lab(t, { sbatch: "echo 7", squeue: away, scancel: away }, { graceMs: 300 });
  const request = at.request("true");
  const one = at.executor.start(request);
  await beganElsewhere(at);
  await sleep(200);
  one.askToEnd();
  one.kill();
  assert.deepEqual(await one.ended, { kind: "cancelled" });
  assert.match(readFileSync(request.log, "utf8"), /job 7 may go on: end it with `scancel 7`/);
});

test("a job whose folder is gone ends its stage", async (t) => {
  const at = lab(t, { sbatch: `${begins}\necho 7`, squeue: away });
  const one = at.executor.start(at.request("echo $$ > new; mv new pid; sleep 60"));
  const pid = await until("its beginning", () => existsSync(join(at.folder, "pid")) && numberIn(at.folder));
  rmSync(join(at.folder, "work/run-1/jobs"), { recursive: true });
  await until("the end of the stage", () => !isRunning(pid));
  one.kill();
  assert.deepEqual(await one.ended, { kind: "cancelled" });
});

test("of several jobs of a dead run's stage the last is adopted: the earlier ones were lost", async (t) => {
  const squeue = `state=RUNNING; if test -e "$at/scancel.calls"; then state=CANCELLED; fi
echo '1|PREEMPTED|None||low|run-0|1 stage'; echo "2|$state|None|n1|low|run-0|2 stage"`;
  const at = lab(t, { sbatch: "true", squeue });
  const request = at.request("true");
  for (const job of ["1", "2"]) {
    const card = { formatVersion: 1, run: "run-0", job, stage: "stage", key: "key" } as const;
    const work = { work: `/work-${job}`, log: request.log };
    const folder = JobFolder.make(join(at.folder, "work/run-0"), { ...card, ...work }, request);
    const claim = { kind: "begun", formatVersion: 1, id: job, host: "host", node: "n1" };
    writeFileSync(join(folder.path, "claim.json"), JSON.stringify(claim));
  }
  const adopted = await at.executor.adopt("key");
  assert.equal(adopted?.work, "/work-2");
  adopted.running.kill();
  assert.equal((await adopted.running.ended).kind, "cancelled");
});

function numberIn(folder: string): number {
  return Number(readFileSync(join(folder, "pid"), "utf8"));
}

function causeOf(result: ExecutionResult): string {
  return result.kind === "failed" ? result.cause : result.kind;
}

test("at most eight jobs are submitted at once", async (t) => {
  const sbatch =
    'ls "$at" | grep -c "^now\\." >> "$at/most"; : > "$at/now.$$"; sleep 0.2; rm "$at/now.$$"; echo 7';
  const at = lab(t, { sbatch, squeue: "true" });
  const jobs = Array.from({ length: 20 }, () => at.executor.start(at.request("true")));
  for (const job of jobs) await job.ended;
  const others = readFileSync(join(at.folder, "most"), "utf8").trim().split("\n").map(Number);
  assert.equal(others.length, 20);
  assert.ok(Math.max(...others) <= 7, `${Math.max(...others)} others`);
  assert.ok(Math.max(...others) >= 1);
});

test("all jobs together cost one question in each interval", async (t) => {
  const squeue = 'for job in $(seq 12); do echo "$job|PENDING|Priority||main|run-1|$job stage"; done';
  // many at once: the id is the number in the comment
  const sbatch = 'for one; do case $one in --comment=*) one=${one#*=}; echo "${one%% *}";; esac; done';
  const at = lab(t, { sbatch, squeue }, { intervalMs: 200 });
  const jobs = Array.from({ length: 12 }, () => at.executor.start(at.request("true")));
  await until("the first answer", () => at.calls("squeue") > 0);
  const before = at.calls("squeue");
  await sleep(1_000);
  const asked = at.calls("squeue") - before;
  assert.ok(asked >= 1 && asked <= 6, `${asked} questions in a second`);
  for (const job of jobs) job.kill();
  for (const job of jobs) assert.equal((await job.ended).kind, "cancelled");
});
