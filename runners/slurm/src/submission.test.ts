// How a stage is submitted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { jobScript } from "@mlrb/core/ports/command-line";
import { sbatchArguments } from "./submission.ts";

const submitted = (request: Partial<Parameters<typeof sbatchArguments>[0]["request"]>) =>
  sbatchArguments({
    request: { root: "/lab/mlrb", cpus: 1, limits: {}, ...request },
    run: "run-7",
    comment: "3 score[task=a]",
    output: "/lab/out",
  });
const flags = (list: string[]) =>
  Object.fromEntries(
    list.map((flag) => [flag.split("=", 1)[0]!.slice(2), flag.slice(flag.indexOf("=") + 1)] as const),
  );

test("a job never requeues itself: its runner submits it again", () => {
  assert.ok(submitted({}).includes("--no-requeue"));
});

test("the job gets what its stage books, and a little for the program that carries the stage out", () => {
  const {
    mem,
    time,
    gres,
    "cpus-per-task": cpus,
  } = flags(
    submitted({
      cpus: 2.5,
      limits: { timeMs: 90_000 },
      booked: { memoryBytes: 2 ** 30, gpus: 2, slurm: { gres: "gpu:a100" } },
    }),
  );
  assert.deepEqual({ mem, time, gres, cpus }, { mem: "1280M", time: "4", gres: "gpu:a100:2", cpus: "3" });
});

test("the job of a stage with an image has time for its pull", () => {
  const { time } = flags(submitted({ limits: { timeMs: 90_000 }, image: "lab/score" }));
  assert.equal(time, "64");
});

test("the job of an attempt has memory for its step and its relay too", () => {
  const { mem } = flags(submitted({ relay: true, booked: { memoryBytes: 2 ** 30, gpus: 0 } }));
  assert.equal(mem, "1536M");
});

test("a limit of memory above the booked amount is what the job needs", () => {
  const { mem } = flags(
    submitted({ limits: { memoryBytes: 2 ** 31 }, booked: { memoryBytes: 2 ** 30, gpus: 0 } }),
  );
  assert.equal(mem, "2304M");
});

test("the memory limit of a stage's walls is what the job needs, unless the stage has its own", () => {
  const walls = { required: true, reads: [], writes: [] };
  const booked = { memoryBytes: 2 ** 30, gpus: 0 };
  const limits = { memoryBytes: 3 * 2 ** 30, processes: 1, fileBytes: 1 };
  const memOf = (more: Partial<Parameters<typeof submitted>[0]>) =>
    flags(submitted({ booked, walls: { ...walls, limits }, ...more })).mem;
  assert.equal(memOf({}), "3328M");
  assert.equal(memOf({ limits: { memoryBytes: 2 ** 31 } }), "2304M");
});

test("limits of the submitting shell do not reach the job", () => {
  assert.equal(flags(submitted({})).propagate, "NONE");
});

test("what is not set is left to the cluster", () => {
  const set = flags(submitted({}));
  for (const name of ["partition", "account", "qos", "constraint", "gres", "time", "mem"])
    assert.ok(!(name in set), name);
});

test("the profile's settings reach sbatch", () => {
  const slurm = { partition: "gpu", account: "lab", qos: "high", constraint: "a100&nvme" };
  const { partition, account, qos, constraint } = flags(
    submitted({ booked: { memoryBytes: 0, gpus: 0, slurm } }),
  );
  assert.deepEqual({ partition, account, qos, constraint }, slurm);
});

test("no variable of the runner reaches the job", () => {
  assert.equal(flags(submitted({})).export, "MLRB_EXECUTOR");
});

test("paths with spaces and quotes stay one word of the job's script", () => {
  assert.equal(
    jobScript(["/lab/it's here/node", "job.ts", "/lab/a b"]),
    "#!/bin/sh\nexec '/lab/it'\\''s here/node' job.ts '/lab/a b'\n",
  );
});
