// The end of an attempt's jobs, with stubs of Slurm's programs.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { endAttemptJobs } from "./end-attempt-jobs.ts";
import { JobFolder } from "./job-folder.ts";

/** An attempt whose Slurm consists of these shell lines. Each job has files besides `job.json`. */
function lab(t: TestContext, programs: { squeue?: string; scancel?: string }) {
  const bin = mkdtempSync(join(tmpdir(), "mlrb-end-jobs-"));
  t.after(() => removeFolder(bin));
  const { squeue = "true", scancel = "true" } = programs;
  for (const [name, line] of Object.entries({ squeue, scancel })) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "$*" >> '${bin}/${name}.calls'\n${line}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const folder = join(bin, "attempt");
  return {
    folder,
    env: { PATH: `${bin}${delimiter}${process.env.PATH}` },
    scancels: () =>
      existsSync(join(bin, "scancel.calls"))
        ? readFileSync(join(bin, "scancel.calls"), "utf8").trimEnd().split("\n")
        : [],
    job(job: string, files: Record<string, object>) {
      const path = join(folder, "jobs", job);
      mkdirSync(path, { recursive: true });
      const known = { formatVersion: 1, run: "attempt-1", job, stage: "attempt", key: "k" };
      const all = { "job.json": { ...known, work: folder, log: join(folder, "log") }, ...files };
      for (const [name, value] of Object.entries(all)) writeFileSync(join(path, name), JSON.stringify(value));
      return new JobFolder(path);
    },
  };
}

const withId = (id: string) => ({ "id.json": { formatVersion: 1, id } });

test("the jobs of an attempt that no process follows leave Slurm's queue, and never begin", async (t) => {
  const { job, scancels, folder, env } = lab(t, {});
  job("1", { ...withId("71"), "done.json": {} });
  const second = job("2", withId("72"));
  assert.deepEqual(await endAttemptJobs(folder, { env }), []);
  assert.deepEqual(scancels(), ["72"]);
  assert.ok(second.isGivenUp());
});

test("a job whose id was never written is found by its name, and its ended submissions are left alone", async (t) => {
  const lines = ["7|PENDING|None||main|attempt-1|1 attempt", "6|FAILED|None||main|attempt-1|1 attempt"];
  const other = "8|RUNNING|None|n1|main|attempt-1|2 attempt";
  const squeue = `printf '%s\\n' '${[...lines, other].join("' '")}'`;
  const { job, scancels, folder, env } = lab(t, { squeue });
  job("1", {});
  assert.deepEqual(await endAttemptJobs(folder, { env }), []);
  assert.deepEqual(scancels(), ["7"]);
});

test("a person reads which job Slurm did not cancel, and nothing of a job that is over", async (t) => {
  const away = "echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1";
  const silent = lab(t, { scancel: away, squeue: away });
  silent.job("1", withId("72"));
  silent.job("2", {});
  const [one, two] = await endAttemptJobs(silent.folder, { env: silent.env });
  assert.match(one!, /^job 72 of the attempt may go on \(Unable to contact.*end it with `scancel 72`$/);
  assert.match(two!, /^a job of the attempt may be in Slurm's queue \(.*`scancel --name=attempt-1`$/);
  const scancel = "echo 'scancel: error: Kill job error on job id 72: Invalid job id specified' >&2; exit 1";
  const over = lab(t, { scancel });
  over.job("1", withId("72"));
  assert.deepEqual(await endAttemptJobs(over.folder, { env: over.env }), []);
});
