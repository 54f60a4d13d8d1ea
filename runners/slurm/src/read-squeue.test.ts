// What the programs of Slurm 22.05 printed, recorded with a cluster of two nodes. Job 4 was preempted, 3
// cancelled, 10 was being ended, 11 ran on a node that was killed.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { callSlurm, failureKind, lastError } from "./call-slurm.ts";
import { lastState } from "./job-account.ts";
import { findJob, listJobs } from "./job-queue.ts";
import { isFinal, jobState } from "./job-state.ts";
import { endInOutput, readSqueue } from "./read-squeue.ts";

const listed = `1|COMPLETED|None|n1|main|mlrb-test|t1 stage[a|b=1]
2|FAILED|NonZeroExitCode|n1|main|mlrb-test|t2 x
3|CANCELLED|None|n1|main|mlrb-test|t3 x
4|PREEMPTED|None|n2|low|mlrb-test|t4 x
5|FAILED|BadConstraints||main|mlrb-test|t5 x
7|PENDING|JobHeldUser||main|mlrb-test|t8 x
8|RUNNING|None|n1|main|mlrb-test|t9 x
10|COMPLETING|None|n1|main|mlrb-test|t11 x
11|NODE_FAIL|NodeDown|n2|main|mlrb-test|t12 x
12|TIMEOUT|TimeLimit|n1|main|mlrb-test|t13 x
`;
const outage = [
  "slurm_load_jobs error: Transport endpoint is not connected",
  "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
  "scancel: error: Kill job error on job id 8: Unable to contact slurm controller (connect failure)",
];
const refusals = [
  "sbatch: error: Memory specification can not be satisfied\nsbatch: error: Batch job submission failed: Requested node configuration is not available",
  "sbatch: error: invalid partition specified: nowhere\nsbatch: error: Batch job submission failed: Invalid partition name specified",
  "sbatch: error: Batch job submission failed: Invalid feature specification",
  "scancel: error: Kill job error on job id 99999: Invalid job id specified",
  "Slurm accounting storage is disabled",
];

test("squeue's lines give each job's state, node and reason", () => {
  const jobs = readSqueue(listed);
  assert.deepEqual(
    jobs.map(({ id, state, node, reason }) => [id, state, node, reason].join(" ").trim()),
    [
      "1 completed n1",
      "2 failed n1 NonZeroExitCode",
      "3 cancelled n1",
      "4 preempted n2",
      "5 failed  BadConstraints",
      "7 pending  JobHeldUser",
      "8 running n1",
      "10 ending n1",
      "11 node-failed n2 NodeDown",
      "12 time-limit n1 TimeLimit",
    ],
  );
});

test("a comment may hold the separator", () => {
  assert.equal(readSqueue(listed)[0]!.comment, "t1 stage[a|b=1]");
});

test("lines that are no jobs are left out", () => {
  assert.deepEqual(readSqueue("squeue: warning: the site is closed on Monday\n\n"), []);
});

test("a job that the controller is ending has not ended", () => {
  assert.equal(isFinal(jobState("COMPLETING")), false);
});

test("a state of a later Slurm decides nothing", () => {
  assert.equal(isFinal(jobState("DREAMING")), false);
  assert.equal(isFinal(jobState("constructor")), false);
});

test("a job is found by its run and its own name: ids are used again", () => {
  const jobs = readSqueue(`4|RUNNING|None|n1|main|run-2|1 x\n${listed.replaceAll("|t", "|")}`);
  assert.equal(findJob(jobs, { run: "mlrb-test", job: "4", id: "4" })?.state, "preempted");
  assert.equal(findJob(jobs, { run: "run-2", job: "1", id: "4" })?.state, "running");
  assert.equal(findJob(jobs, { run: "mlrb-test", job: "4", id: "5" }), undefined);
  assert.equal(findJob(jobs, { run: "mlrb-test", job: "t", id: undefined }), undefined);
});

test("a job with a known id is found although the site has rewritten its comment", () => {
  for (const comment of ["", "(null)", "grant A-7 of the lab"]) {
    const jobs = readSqueue(`4|RUNNING|None|n1|main|run-2|${comment}\n`);
    assert.equal(findJob(jobs, { run: "run-2", job: "1", id: "4" })?.state, "running");
    assert.equal(findJob(jobs, { run: "run-1", job: "1", id: "4" }), undefined);
    assert.equal(findJob(jobs, { run: "run-2", job: "1" }), undefined);
  }
});

test("variables that give options to Slurm's programs do not reach them", async () => {
  const options = ["SQUEUE_STATES", "SACCT_FORMAT", "SBATCH_ACCOUNT", "SCANCEL_NAME", "SINFO_FORMAT"];
  const env = {
    PATH: process.env.PATH,
    SLURM_CONF: "kept",
    ...Object.fromEntries(options.map((o) => [o, "x"])),
  };
  const answer = await callSlurm("env", [], { env });
  assert.ok(answer.kind === "ok");
  assert.match(answer.text, /^SLURM_CONF=kept$/m);
  for (const name of options) assert.doesNotMatch(answer.text, new RegExp(`^${name}=`, "m"));
});

test("jobs of hidden partitions are listed", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-squeue-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const hides = "case \"$*\" in *--all*) echo '7|RUNNING|None|n1|secret|run-1|1 stage';; esac";
  writeFileSync(join(folder, "squeue"), `#!/bin/sh\n${hides}\n`, { mode: 0o755 });
  const jobs = await listJobs(["run-1"], { PATH: `${folder}${delimiter}${process.env.PATH}` });
  assert.ok(Array.isArray(jobs));
  assert.deepEqual(
    jobs.map(({ partition }) => partition),
    ["secret"],
  );
});

test("a limit that a job can never meet is a refusal that names it, although Slurm has one text for all limits", () => {
  const all = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)";
  for (const limit of ["QOSMaxWallDurationPerJobLimit", "QOSMaxCpuPerUserLimit", "AssocMaxNodePerJobLimit"]) {
    const said = `sbatch: error: ${limit}\nsbatch: error: Batch job submission failed: ${all}`;
    assert.equal(failureKind(said), "refused");
    assert.equal(lastError(said), `${limit}: ${all}`);
  }
  for (const limit of ["AssocMaxSubmitJobLimit", "QOSGrpSubmitJobsLimit"])
    assert.equal(failureKind(`sbatch: error: ${limit}\nsbatch: error: ${all}`), "full");
});

test("a controller that is away is no refusal, and a refusal is no outage", () => {
  assert.deepEqual(outage.map(failureKind), ["away", "away", "away"]);
  assert.deepEqual(new Set(refusals.map(failureKind)), new Set(["refused"]));
});

test("a full queue is waited for", () => {
  const said =
    "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)";
  assert.equal(failureKind(said), "full");
});

test("sacct's lines give each job's state; it names the user who cancelled a job", () => {
  const text = `COMPLETED|run-1
FAILED|run-2
CANCELLED by 0|run-3
TIMEOUT|mlrb-run-4
PENDING|run-6
FAILED|run-7
COMPLETED|run-7
`;
  const states = [1, 2, 3, 4, 6, 7].map((number) => lastState(text, `run-${number}`));
  assert.deepEqual(states, ["completed", "failed", "cancelled", undefined, "pending", "completed"]);
});

test("the job's own output tells a time limit, a preemption and a cancellation apart", () => {
  const ends = {
    "slurmstepd-n1: error: *** JOB 4 ON n1 CANCELLED AT 2026-11-26T11:12:45 DUE TO TIME LIMIT ***":
      "time-limit",
    "slurmstepd-n2: error: *** JOB 4 ON n2 CANCELLED AT 2026-11-26T10:50:00 DUE TO PREEMPTION ***":
      "preempted",
    "slurmstepd-n1: error: *** JOB 10 ON n1 CANCELLED AT 2026-11-26T10:50:17 ***": "cancelled",
  };
  for (const [line, state] of Object.entries(ends))
    assert.equal(endInOutput(`begun\n${line}\nlast\n`), state);
  assert.equal(endInOutput("Traceback: something else\n"), undefined);
});
