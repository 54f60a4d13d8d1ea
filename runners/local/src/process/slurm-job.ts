// Jobs that mlrb submitted before 2026-11-27 name this file as their program, and may still wait in Slurm's queue.
// Then only namespaces of the user were walls, and no trusted stage with an image was submitted.
import { runSlurmJob } from "./run-slurm-job.ts";

await runSlurmJob(process.argv[2]!, {
  chooseWalls: async () => ({ kind: "none", passed: ["a job of an older mlrb knows no other walls"] }),
  containers: () => Promise.reject(new Error("a job of an older mlrb runs no containers")),
});
