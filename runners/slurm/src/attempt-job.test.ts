// The submission of an attempt's jobs, with stubs of Slurm's programs: the limit of the partition, and which
// failures are the attempt's end.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { hasOpenJob } from "@mlrb/kit/attempts/open-job";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { writeJson } from "@mlrb/kit/json-file";
import { until } from "../../../tests/support/processes.ts";
import { adoptAttemptJob, submitAttemptJob } from "./attempt-job.ts";
import type { JobTimes } from "./job-times.ts";

const away = "echo 'slurm_load_partitions: Unable to contact slurm controller (connect failure)' >&2; exit 1";
const refuses =
  "echo 'sbatch: error: Batch job submission failed: Requested time limit is invalid' >&2; exit 1";
const hour = 3_600_000;

type Stubs = {
  sinfo: string;
  sbatch?: string;
  squeue?: string;
  patienceMs?: number;
};

/** An attempt whose Slurm consists of these shell lines. */
function lab(t: TestContext, { sinfo, sbatch = refuses, squeue = "true", patienceMs = 60_000 }: Stubs) {
  const bin = mkdtempSync(join(tmpdir(), "mlrb-attempt-job-"));
  t.after(() => removeFolder(bin));
  for (const [name, line] of Object.entries({
    sinfo,
    sbatch,
    squeue,
    scancel: "true",
    sacct: away,
  })) {
    writeFileSync(join(bin, name), `#!/bin/sh\nat='${bin}'\necho "$*" >> "$at/${name}.calls"\n${line}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const folder = join(bin, "attempt");
  mkdirSync(folder);
  const env = { PATH: `${bin}${delimiter}${process.env.PATH}` };
  const times: Partial<JobTimes> = { intervalMs: 20, patienceMs, lateMs: 50 };
  return {
    folder,
    env,
    calls: (name: string) => {
      const file = join(bin, `${name}.calls`);
      return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
    },
    adopt: () =>
      adoptAttemptJob({
        ...{ folder, name: "attempt-1", program: "/no/program", secrets: [], relay: undefined },
        ...{ wantedMs: 24 * hour, env, times },
      }),
    submit: (limits: { timeMs?: number } = {}, ranMs = 0) =>
      submitAttemptJob(
        {
          ...{ id: "attempt", key: "k", token: "t", run: { kind: "command", command: "true" } },
          ...{ root: bin, work: folder, log: join(folder, "log"), env: {}, inputs: {}, outputs: {} },
          ...{ limits, reads: [], writes: [], cpus: 1, gpus: [] },
        },
        {
          ...{ folder, name: "attempt-1", program: "/no/program", secrets: [], relay: undefined },
          ...{ wantedMs: 24 * hour, ranMs, env, times },
        },
      ),
  };
}

test("the limit of a partition is waited for while Slurm does not answer, and hidden ones have one too", async (t) => {
  const sinfo = `[ "$(grep -c '' "$at/sinfo.calls")" -lt 3 ] && { ${away}; }\necho 'short*|4:00:00'`;
  const { submit, calls, folder } = lab(t, { sinfo });
  const { ended } = await submit();
  await ended;
  assert.equal(calls("sinfo").length, 3);
  assert.match(calls("sinfo")[0]!, /--all/);
  assert.match(calls("sbatch")[0]!, /--time=240$/);
  const { turnMs } = JSON.parse(readFileSync(join(folder, "jobs/1/request.json"), "utf8"));
  assert.equal(turnMs, 4 * hour - 120_000);
});

test("a job that no partition cuts also closes before its time is over", async (t) => {
  const { submit, folder } = lab(t, { sinfo: "echo 'long*|infinite'" });
  await (await submit()).ended;
  const { turnMs } = JSON.parse(readFileSync(join(folder, "jobs/1/request.json"), "utf8"));
  assert.equal(turnMs, 24 * hour - 120_000);
});

test("the limit of the stage is that of all jobs of an attempt, and no job closes before it", async (t) => {
  const { submit, calls, folder } = lab(t, { sinfo: "echo 'long*|infinite'" });
  await (await submit({ timeMs: 25 * hour }, 24.5 * hour)).ended;
  assert.match(calls("sbatch")[0]!, /--time=35$/);
  const { turnMs, ranMs, limits } = JSON.parse(readFileSync(join(folder, "jobs/1/request.json"), "utf8"));
  assert.ok(turnMs > hour / 2, "the limit ends the attempt first");
  assert.deepEqual({ ranMs, limits }, { ranMs: 24.5 * hour, limits: { timeMs: 25 * hour } });
});

test("an attempt whose partition has no known limit is not submitted, and goes on later", async (t) => {
  const { submit, calls, folder } = lab(t, { sinfo: away, patienceMs: 50 });
  const job = await submit();
  const detail =
    "Slurm does not say the time limit of its partition: Unable to contact slurm controller (connect failure)";
  assert.deepEqual(await job.ended, { kind: "failed", cause: "machine", detail });
  assert.equal(job.brokenOff(), detail);
  assert.deepEqual(calls("sbatch"), []);
  assert.ok(!hasOpenJob(folder));
});

test("an attempt that is asked to end while its partition's limit is waited for ends, and no job of it is left", async (t) => {
  const { submit, calls, folder } = lab(t, { sinfo: away });
  const job = await submit();
  await until("the question", () => calls("sinfo").length > 0);
  job.askToEnd();
  assert.deepEqual(await job.ended, { kind: "cancelled" });
  assert.equal(job.brokenOff(), undefined);
  assert.deepEqual(calls("sbatch"), []);
  assert.ok(!hasOpenJob(folder));
});

test("a refusal of the first job is the attempt's end, and one of a later job is not", async (t) => {
  const { submit } = lab(t, { sinfo: "echo 'long*|infinite'" });
  const first = await submit();
  const result = await first.ended;
  assert.equal(result.kind === "failed" && result.cause, "operator");
  assert.equal(first.brokenOff(), undefined);
  const second = await submit();
  await second.ended;
  assert.match(second.brokenOff() ?? "", /^Slurm refuses its job: Requested time limit is invalid/);
});

test("a refusal of the first job of an attempt that has begun on this host is not its end", async (t) => {
  const { submit, folder } = lab(t, { sinfo: "echo 'long*|infinite'" });
  mkdirSync(join(folder, "out"), { recursive: true });
  writeFileSync(join(folder, "out/trajectory.jsonl"), "{}\n");
  const first = await submit();
  await first.ended;
  assert.match(first.brokenOff() ?? "", /^Slurm refuses its job/);
});

test("a later job that a person cancels is the attempt's end", async (t) => {
  const { submit, folder } = lab(t, {
    sinfo: "echo 'long*|infinite'",
    sbatch: "echo 7",
    squeue: "echo '7|CANCELLED|None||main|attempt-1|2 attempt'",
  });
  mkdirSync(join(folder, "jobs/1"), { recursive: true });
  const earlier = { formatVersion: 1, run: "attempt-1", job: "1", stage: "attempt", key: "k" };
  writeFileSync(
    join(folder, "jobs/1/job.json"),
    JSON.stringify({ ...earlier, work: folder, log: join(folder, "log") }),
  );
  const job = await submit();
  const result = await job.ended;
  assert.match(result.kind === "failed" ? result.detail : "", /^its job was cancelled by another person/);
  assert.equal(job.brokenOff(), undefined);
});

for (const [state, expected] of [
  ["CANCELLED", { cause: "operator", brokenOff: undefined }],
  ["PREEMPTED", { cause: "machine", brokenOff: "its job was preempted by another" }],
] as const)
  test(`a job that got a signal while no supervisor lived has the end that Slurm says: ${state}`, async (t) => {
    const { adopt, folder } = lab(t, {
      sinfo: "true",
      squeue: `echo '7|${state}|None|n1|main|attempt-1|1 attempt'`,
    });
    const write = (name: string, value: object) => writeJson(join(folder, "jobs/1", name), value);
    mkdirSync(join(folder, "jobs/1"), { recursive: true });
    const job = { formatVersion: 1, run: "attempt-1", job: "1", stage: "attempt", key: "k" };
    write("job.json", { ...job, work: folder, log: join(folder, "log") });
    const place = { id: "7", host: "n1", node: "n1" };
    write("claim.json", { kind: "begun", formatVersion: 1, ...place });
    const wrote = { files: 0, bytes: 0, digest: "0".repeat(64) };
    write("done.json", { formatVersion: 1, job: "1", ...place, wrote, result: { kind: "cancelled" } });
    assert.equal(hasOpenJob(folder), true);
    const adopted = adopt();
    const result = await adopted!.ended;
    assert.equal(result.kind === "failed" && result.cause, expected.cause);
    assert.equal(adopted!.brokenOff(), expected.brokenOff);
    assert.equal(hasOpenJob(folder), false, "it is learned once");
  });

for (const [begun, brokenOff] of [
  ["no", "no sandbox"],
  [undefined, undefined],
] as const)
  test(`a later job whose step failed is the attempt's end unless nothing began there: ${begun}`, async (t) => {
    const { adopt, folder } = lab(t, {
      sinfo: "true",
      squeue: "echo '7|FAILED|NonZeroExitCode|n1|main|attempt-1|2 attempt'",
    });
    const write = (name: string, value: object) => writeJson(join(folder, "jobs/2", name), value);
    for (const one of ["jobs/2", "out"]) mkdirSync(join(folder, one), { recursive: true });
    writeFileSync(join(folder, "out/trajectory.jsonl"), "{}\n");
    writeJson(join(folder, "trouble.json"), {
      cause: "machine",
      detail: "no sandbox",
      ...(begun && { begun }),
    });
    const job = { formatVersion: 1, run: "attempt-1", job: "2", stage: "attempt", key: "k" };
    write("job.json", { ...job, work: folder, log: join(folder, "log") });
    const place = { id: "7", host: "n1", node: "n1" };
    write("claim.json", { kind: "begun", formatVersion: 1, ...place });
    const wrote = { files: 0, bytes: 0, digest: "0".repeat(64) };
    const result = { kind: "failed", cause: "exit-code", detail: "exit code 75" };
    write("done.json", { formatVersion: 1, job: "2", ...place, wrote, result });
    const adopted = adopt();
    await adopted!.ended;
    assert.equal(adopted!.brokenOff(), brokenOff);
    assert.equal(adopted!.hasSucceeded(), false);
  });
