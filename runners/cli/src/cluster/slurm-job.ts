// The program of a Slurm job. Usage: `node slurm-job.ts FOLDER`.
// TERM asks the stage to end, USR2 kills it; both end its whole process tree. end.json in FOLDER says the same without
// Slurm, and a job whose folder is gone is killed.
import { runSlurmJob } from "@mlrb/local/process/run-slurm-job";

const [, , folder] = process.argv;
// most jobs need none of them, and begin sooner without
await runSlurmJob(folder!, {
  async chooseWalls(needs) {
    const { stageWallsOnNode } = await import("./stage-walls-on-node.ts");
    return await stageWallsOnNode(needs);
  },
  async containers(request) {
    const { podmanExecutor } = await import("@mlrb/docker/podman-on-node");
    return podmanExecutor(request);
  },
});
